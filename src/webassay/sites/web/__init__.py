"""What every site's pages need, so that a site is its schema, its data and its pages.

Start with `app`: a `WebSite` turns handlers and templates into an application, and a `Visit` is one request to it.
"""
