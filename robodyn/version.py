"""The version of robodyn, for a source tree, an editable install and a wheel alike."""

__version__ = "0.2.0"
