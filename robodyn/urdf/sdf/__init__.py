"""Reader of SDF: models, links, frames, joints and loops."""
