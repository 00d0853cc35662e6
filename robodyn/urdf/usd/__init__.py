"""Reading and writing of USD with UsdPhysics (extra ``usd``)."""
