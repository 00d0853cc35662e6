"""``robodyn new``: starter projects, each a folder of files beside the command."""
