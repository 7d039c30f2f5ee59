"""One module for each part of the viewer; each says its pages as values (`viewer/page.py`)."""
