"""How Sphinx builds the book; `make.py` passes this folder, and other settings as options."""

# Sphinx reads these lower-case names from the module.
project = "Data-parallel deep learning"
author = "the course kit"
extensions = ["myst_nb", "sphinx.ext.mathjax"]
exclude_patterns = ["slides-html", "_static"]
html_theme = "furo"
html_title = "Data-parallel deep learning"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
mathjax_path = "mathjax.js"  # make.py copies it, so that no page needs the network
mathjax3_config = {"options": {"enableMenu": False}}
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_space = False  # as in Marp: "$WORK and $SCRATCH" is not a formula
myst_heading_anchors = 4
nb_execution_mode = "off"  # pictures come from `make run`
suppress_warnings = ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"]
