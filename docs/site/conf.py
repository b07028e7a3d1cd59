"""The documentation site: the pages of docs, the notebooks, and the Python package's reference.

``cargo xtask site`` builds it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import ripplet

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

project = "ripplet"
author = "the ripplet authors"
version = release = ripplet.__version__
language = "en"

root_doc = "site/index"
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["site/_build"]
html_theme = "furo"
html_title = "ripplet"
html_static_path: list[str] = []
html_copy_source = False

# The notebooks are stored with their outputs, which the tests compare.
nb_execution_mode = "off"
nb_merge_streams = True
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# A block of the pages has shell commands, or a run with its output, or a text as it is.
highlight_language = "none"

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def _within(page: str, text: str) -> str:
    """Shows links that leave the folder of documents as their text: the site has no such pages."""
    folder = (DOCS / page).parent

    def replaced(link: re.Match[str]) -> str:
        image, shown, target = link.groups()
        path = target.partition("#")[0]
        if image or not path or "://" in target:
            return link.group(0)
        file = Path(os.path.normpath(folder / path))
        is_page = file.is_relative_to(DOCS) and file.suffix in (".md", ".ipynb") and file.is_file()
        return link.group(0) if is_page else shown

    return _LINK.sub(replaced, text)


def _read(app: Any, page: str, source: list[str]) -> None:
    source[0] = _within(page, source[0])


def setup(app: Any) -> None:
    app.connect("source-read", _read)
