# Each target installs what it needs on Debian or Ubuntu and can be repeated.
.PHONY: plan engine test test-long wheels deb tarball site web pictures comparisons cuda-objects bench check check-all format \
	fuzz profiles accuracy search strands emulation \
	collectives scaling

plan:
	@echo "Installs what is missing, then builds the planner, some three minutes on two cores."
	tools/setup.sh plan
	cmake --preset release
	cmake --build --preset release --target stepwright
	build/release/stepwright tune examples/llama-3-70b.yaml
	@echo
	@echo 'The command is build/release/stepwright: export PATH="$(CURDIR)/build/release:$$PATH"'
	@echo 'Next, a job of your own: stepwright init -o job.yaml'

# Ends by naming what was skipped, and what runs it.
test:
	tools/setup.sh test
	cmake --preset release
	cmake --build --preset release
	ctest --preset release -j "$$(nproc)"; status=$$?; \
		python3 -B tools/check/skipped_tests.py build/release; exit $$status

# Ranks on 160 random plans, 100 kills and 2,000 jobs to tune; the suite itself takes a sample of them.
test-long: test
	for first in $$(seq 0 100 1900); do \
		STEPWRIGHT_RANDOM_JOBS=$$first:100 build/release/tests/tune/tune_test --gtest_filter='Tuner.*' \
			|| exit 1; done
	STEPWRIGHT_RANDOM_PLANS=160 STEPWRIGHT_COMMAND=build/release/stepwright \
		build/release/tests/runtime/runtime_test --gtest_filter=RandomPlans.*
	STEPWRIGHT_KILLS=100 STEPWRIGHT_COMMAND=build/release/stepwright \
		build/release/tests/runtime/runtime_test --gtest_filter=Faults.*Killed*

# The explorer of `stepwright serve`, beside the command: the planner for browsers in one page. With
# Emscripten, which is large; nothing else needs it.
engine:
	tools/setup.sh engine
	mkdir -p build/release
	tools/release/engine.sh build/release/explorer.html

# Wheels of the planner for this Python, in build/wheels/, tried in environments of their own: for this
# machine and, on x86-64, for aarch64.
wheels: engine
	tools/setup.sh wheels
	tools/release/wheels.sh

# A Debian package of the planner, in build/packages/, tried where it is unpacked.
deb: engine
	tools/setup.sh deb
	cmake --preset release
	cmake --build --preset release --target package_files
	rm -rf build/packages
	cd build/release && SOURCE_DATE_EPOCH="$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}" cpack -B ../packages
	dpkg-deb --extract build/packages/*.deb build/packages/unpacked
	python3 -B tools/release/try_packages.py build/packages/unpacked/usr/bin/stepwright

# The command and the libraries that it needs as a folder that runs anywhere, in build/packages/.
tarball: engine
	tools/setup.sh tarball
	cmake --preset release
	cmake --build --preset release --target package_files
	tools/release/tarball.sh

# The site in build/site/html: documents, reports of examples and, after `make engine`, the explorer.
site:
	tools/setup.sh check
	tools/setup.sh plan
	cmake --preset release
	cmake --build --preset release --target stepwright
	tools/release/site.sh

# Builds the page of `--report` from web/ anew (Node 18 or later, npm); it is committed, so that
# nothing else needs Node.
web:
	npm --prefix web ci --no-audit --no-fund
	npm --prefix web run build

# Compiles the CUDA sources where PyTorch has no CUDA; needs the toolkit's headers.
cuda-objects:
	tools/setup.sh test
	tools/setup.sh cuda
	cmake --preset release -D STEPWRIGHT_CUDA_OBJECTS=ON
	cmake --build --preset release --target stepwright_cuda_objects
	cmake --preset release -D STEPWRIGHT_CUDA_OBJECTS=OFF

bench:
	tools/setup.sh bench
	cmake --preset release
	cmake --build --preset bench
	set -e; for bench in build/release/bench/*_bench; do "$$bench"; done

# Format, include arrows, Python, web/: seconds. What takes longer is `make check-all`.
check:
	tools/setup.sh check
	tools/check/check.sh

# Before a large change is called done: usual mistakes, each file by itself, the planner under the
# sanitizers, the readers against noise. Hours.
check-all: check
	tools/setup.sh test
	tools/setup.sh bench
	tools/setup.sh fuzz
	tools/check/check_all.sh

format:
	tools/setup.sh check
	tools/check/check.sh fix

fuzz:
	tools/setup.sh fuzz
	tools/check/fuzz.sh 30

# Fits every profile anew from data/: the same bytes as those in profiles/.
profiles:
	tools/setup.sh plan
	cmake --preset release
	cmake --build --preset commands
	tools/data/profiles.sh build/release/stepwright

# Writes docs/search.md anew: what other ways to choose a plan choose.
search:
	tools/setup.sh search
	cmake --preset release
	cmake --build --preset commands
	python3 tools/docs/search_comparison.py -o docs/search.md

# Writes docs/accuracy/strands_published.md anew, predicted gains of two strands beside published ones, and
# docs/schedules.md, when each schedule wins.
strands:
	tools/setup.sh search
	cmake --preset release
	cmake --build --preset commands
	python3 tools/docs/strands_tables.py -o docs/accuracy/strands_published.md
	python3 tools/docs/zero_bubble_tables.py -o docs/accuracy/zero_bubble_published.md
	python3 tools/docs/schedule_tables.py -o docs/schedules.md

# docs/accuracy.md: the errors of every model on published rows, those left out by fits without them.
accuracy:
	tools/setup.sh accuracy
	cmake --preset release
	cmake --build --preset commands
	mkdir -p build/fits
	python3 -B tools/accuracy/fit_conditions.py --start stepwright/cost/training/conditions.yaml --rounds 0 \
		--report docs/accuracy/left_out.md --json docs/accuracy/left_out.json \
		--fits build/fits data/training_runs.csv data/training_runs_2.csv data/own_runs_h100.csv
	python3 -B tools/accuracy/replay_runs.py --fits build/fits --report docs/accuracy/own_runs.md
	python3 -B tools/accuracy/fit_memory.py --report build/fits/memory_left_out.md
	python3 -B tools/accuracy/accuracy.py

# docs/comparisons.md: other public estimators on the same jobs; llm-analysis comes from PyPI. Some minutes.
comparisons:
	tools/setup.sh accuracy
	cmake --preset release
	cmake --build --preset commands
	mkdir -p build/fits
	python3 -B tools/accuracy/fit_conditions.py --start stepwright/cost/training/conditions.yaml --rounds 0 --fits build/fits \
		data/training_runs.csv data/training_runs_2.csv data/own_runs_h100.csv
	python3 -B tools/accuracy/comparisons.py

# docs/pictures/: parts of real reports, in a headless Chromium.
pictures:
	tools/setup.sh test
	cmake --preset release
	cmake --build --preset release --target stepwright
	python3 -B tools/docs/pictures.py

# docs/emulation/: plans in an emulated cluster and on this machine, predicted and measured. Root, a
# quiet machine.
emulation:
	tools/setup.sh test
	cmake --preset release
	cmake --build --preset commands
	python3 -B tools/lab/emulation.py build/release/stepwright -o docs/emulation/plans.md --rows data/lab_plans.csv
	python3 -B tools/lab/emulation.py build/release/stepwright --real -o docs/emulation/real.md

# docs/collectives/lab.md: collectives of sixteen ranks in emulated clusters. Root, a quiet machine.
collectives:
	tools/setup.sh test
	cmake --preset release
	cmake --build --preset commands
	python3 -B tools/lab/collective_lab.py build/release/stepwright -o docs/collectives/lab.md --rows data/lab_collectives.csv

# docs/collectives/scaling.md: how collectives scale to 16,384 GPUs, simulated. Some minutes.
scaling:
	tools/setup.sh scaling
	cmake --preset release
	cmake --build --preset release --target stepwright
	python3 -B tools/docs/scaling.py
