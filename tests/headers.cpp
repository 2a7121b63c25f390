// Intentionally empty: its build target precompiles the headers that all tests share.
