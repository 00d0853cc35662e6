"""The rank of the constraints: mobility, independent rows and coordinates."""
