// Nothing: its target is where the headers are precompiled that the rooms share.
