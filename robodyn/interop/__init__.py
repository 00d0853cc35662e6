"""Functions of robots as operations of JAX (extra ``jax``) and of PyTorch (``torch``)."""
