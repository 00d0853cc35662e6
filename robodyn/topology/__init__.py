"""From the graph that a person drew to a spanning tree and the joints that are cut."""
