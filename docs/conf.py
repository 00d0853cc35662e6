"""Settings of the manual: ``make docs`` builds it into docs/_build/html, without a network."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

import robodyn  # noqa: E402

if os.environ.get("ROBODYN_TEST_CODE") == "quick":  # as in tests: pages compute little
    sys.path.append(str(HERE.parent / "tests"))
    from support.quick_code import compile_quickly

    compile_quickly()

project = "robodyn"
author = "robodyn authors"
copyright = author
version = release = robodyn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.mathjax",
    "executed_pages",
    "cited_works",
    "public_names",
    "gallery",
]
templates_path = ["_templates"]
try:
    import enchant  # noqa: F401  of `make spelling`: it needs a library and a dictionary of the system
except ImportError:
    pass
else:
    extensions.append("sphinxcontrib.spelling")
    spelling_lang = "en_GB"
    spelling_word_list_filename = "words.txt"
    spelling_show_suggestions = True
    spelling_ignore_importable_modules = False
    spelling_exclude_patterns = ["theory/bibliography*", "theory/coverage*"]
exclude_patterns = ["_build", "_templates"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]  # as other readers of Markdown set it

default_role = "py:obj"  # `robodyn.load` in docstrings is a link
autosummary_generate = True
autodoc_typehints = "none"
autodoc_mock_imports = ["jax", "torch"]  # not needed to build the manual
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"robodyn {release}"
# MathJax from a wheel, so that equations are set without a network.
MATHJAX = find_spec("sphinx-mathjax-offline")
html_static_path = ["_static", *(f"{place}/static" for place in MATHJAX.submodule_search_locations)]
html_css_files = ["tables.css"]
mathjax_path = "mathjax/tex-chtml.js"
mathjax_options = {"defer": "defer"}
html_theme_options = {
    "light_css_variables": {"font-stack--monospace": "DejaVu Sans Mono, Menlo, Consolas, monospace"}
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
