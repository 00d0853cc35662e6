"""Each algorithm of rigid-body dynamics, once, over any scalar."""
