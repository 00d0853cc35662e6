"""How near motions of linkages come to postures where ways to assemble them meet."""

__all__ = ["FAR"]

#: Part of the distance of a usual posture from singular ones that others keep.
FAR = 0.2
