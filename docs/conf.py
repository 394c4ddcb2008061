"""The settings of the site: make docs."""

from typing import Any

import sessc

project = html_title = "sessc"
project_copyright = "The sessc developers"
version = sessc.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx-mathjax-offline"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False  # the template of a class shows them
autodoc_typehints = "none"  # parameters say what they are in words
toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_theme_options = {"header_links_before_dropdown": 6, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"**": []}  # all pages are in the header


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip)
    app.connect("source-read", unlink_folders)


def skip(app: Any, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Leave what scikit-learn documents to scikit-learn."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or ""
    return True if module.startswith("sklearn") else None


def unlink_folders(app: Any, page: str, source: list[str]) -> None:
    """A page can offer a file of the repository, but not a folder."""
    source[0] = source[0].replace("[experiments/results](../experiments/results)", "`experiments/results`")
