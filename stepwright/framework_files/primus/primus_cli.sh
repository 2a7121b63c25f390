#!/bin/bash
python3 primus/cli/main.py "$@"
