"""One of every kind of thing that a package can add to webassay."""
