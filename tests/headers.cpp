// Nothing: its target is where the headers are precompiled that all tests share.
