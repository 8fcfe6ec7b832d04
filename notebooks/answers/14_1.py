# answer: the variable alone; everything else is pruned
metadata = tg.RunMetadata()
with tg.Session(graph) as session:
    session.run(init)
    session.run(w, run_metadata=metadata)
assert not [node for node in metadata.nodes if node.op in ("Conv2D", "_FusedConv2D", "Placeholder")]
