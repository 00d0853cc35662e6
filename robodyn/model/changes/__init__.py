"""Changed copies of a description: masses added, joints welded or merged, other parameters."""
