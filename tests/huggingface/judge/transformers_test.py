"""Every causal text model that transformers has, by its default configuration, and released ones:
parameters, FLOPs of a forward, names and shapes of weights, held against what the planner says.

`types.json` lists the model types: `configuration` where the defaults make no model, `unread` why
the planner refuses a type, `unnamed` why it does not read its weights, `uncounted` why nobody can
count its products without numbers, `unequal` which tensors transformers writes in another shape
than released files have. `left_out.json` says which
types are not causal text models and why. A refusal that turns into a wrong reading fails.
`composites.json` lists models with an encoder of images that is counted; of some of them FLOPs of
an image are, too.
`released/` holds configurations of released models, written down from what is published about them;
they are not copies of the files that `source` names. `numbers` is the published count of
parameters, where there is one.

Needs the packages of tools/requirements/runtime.txt; exits with 77 where transformers is missing.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import unittest
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

try:
    import ours
    import theirs
    from drawn import drawn, left_out
    from switches import switched
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

HERE = Path(__file__).parent
TYPES: dict[str, dict] = json.loads((HERE / "types.json").read_text())
LEFT_OUT: dict[str, str] = json.loads((HERE / "left_out.json").read_text())
RELEASED: dict[str, dict] = json.loads((HERE / "released.json").read_text())
COMPOSITES: list[str] = json.loads((HERE / "composites.json").read_text())
# Those whose images transformers encodes without values, or at toy size.
IMAGES = ["internvl", "lighton_ocr", "llava", "paligemma", "qwen2_vl", "qwen2_5_vl", "qwen3_vl"]
IMAGES += ["qwen3_5"]
LENGTH = 64  # tokens: no longer than the shortest default window
ROUNDED = 1e-3  # of the FLOPs of an image
PROCESSES = 2
DRAWS = int(os.environ.get("STEPWRIGHT_CONFIGURATIONS", "1"))  # random ones of a type
WINDOWS = [64, 80]  # plain attention multiplies what a shorter window takes away
SOME_VALUE = "a value of a key"  # Whose refusal may say anything.


def judged_type(model_type: str) -> list[str]:
    """What is wrong with the planner's reading of a type's default configuration."""
    entry = TYPES[model_type]
    return judged_written(theirs.default_configuration(model_type, changes_of(entry)), entry)


def judged_switches(model_type: str) -> list[str]:
    """The same of configurations that differ from it in one key. They may be refused."""
    entry = {"unread": SOME_VALUE, "unnamed": SOME_VALUE} | TYPES[model_type]
    wrong, compared = [], 0
    for change, configuration in switched(model_type, changes_of(entry)):
        try:
            wrong += [f"{change}: {line}" for line in judged_written(configuration, entry)]
            compared += 1
        except ours.CrashedError:
            raise
        except Exception:  # transformers makes no such model, which it says in many ways
            continue
    return wrong if compared > 0 else ["nothing was compared"]


def judged_draws(model_type: str) -> list[str]:
    """The same of random configurations, in files that leave out keys."""
    entry = {"unread": SOME_VALUE, "unnamed": SOME_VALUE} | TYPES[model_type]
    wrong, compared = [], 0
    for seed in map(str, range(4 * DRAWS)):
        try:
            lines = judged_drawn(model_type, entry, seed)
        except ours.CrashedError:
            raise
        except Exception:  # transformers makes no such model, which it says in many ways
            continue
        wrong += [f"seed {seed}: {line}" for line in lines]
        compared += 1
        if compared == DRAWS:
            break
    return wrong


def judged_drawn(model_type: str, entry: dict, seed: str) -> list[str]:
    found = drawn(model_type, changes_of(entry), seed, WINDOWS)
    with tempfile.TemporaryDirectory() as folder:
        configuration = theirs.default_configuration(model_type, found)
        configuration.save_pretrained(folder)
        file = Path(folder) / "config.json"
        left_out(file, seed, configuration)
        return judged(file, theirs.read_configuration(Path(folder)), entry)


def changes_of(entry: dict) -> dict:
    return entry.get("configuration", {})


def judged_written(configuration: theirs.Configuration, entry: dict) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        configuration.save_pretrained(folder)
        return judged(Path(folder) / "config.json", configuration, entry)


def judged_release(name: str) -> list[str]:
    """The same of a released model, whose parameters were counted when it was published."""
    entry = RELEASED[name]
    path = HERE / "released" / f"{name}.json"
    configuration = theirs.read_configuration(path)
    return judged(path, configuration, entry)


def judged_composite(model_type: str) -> list[str]:
    """Parameters of the parts of a model that takes in images, by its default configuration."""
    configuration = theirs.default_configuration(model_type, {})
    with tempfile.TemporaryDirectory() as folder:
        configuration.save_pretrained(folder)
        whole = ours.described(Path(folder) / "config.json", LENGTH)
    encoder = whole["encoder"]
    said = whole["parameters"] + encoder["parameters"] + encoder.get("projector", 0)
    count = theirs.parameters_of(theirs.composite_of(configuration))
    return [] if said == count else [f"{said:,} parameters, transformers has {count:,}"]


def judged_image(model_type: str) -> list[str]:
    """FLOPs of an image through the encoder of such a model, with few layers of its tower."""
    configuration = theirs.default_configuration(model_type, {})
    for layers in ("depth", "num_hidden_layers"):
        if hasattr(configuration.vision_config, layers):
            setattr(configuration.vision_config, layers, 3)
    for listed in ("fullatt_block_indexes", "deepstack_visual_indexes"):
        if getattr(configuration.vision_config, listed, None):
            setattr(configuration.vision_config, listed, [1])
    with tempfile.TemporaryDirectory() as folder:
        configuration.save_pretrained(folder)
        encoder = ours.described(Path(folder) / "config.json", LENGTH)["encoder"]
    flops = theirs.image_flops(configuration, encoder["patches"])
    far = abs(encoder["forward_flops"] / flops - 1) > ROUNDED
    return [f"{encoder['forward_flops']:.6g} FLOPs, transformers has {flops:.6g}"] if far else []


def judged(path: Path, configuration: theirs.Configuration, entry: dict) -> list[str]:
    try:
        answer = ours.answer_for(path, LENGTH)
    except ours.RefusedError as refused:
        if entry.get("unread", "") in str(refused) or entry.get("unread") == SOME_VALUE:
            return [] if "unread" in entry else [f"is refused: {refused}"]
        return [f"is refused, not for {entry['unread']}: {refused}"]
    model = theirs.model_of(configuration)
    wrong = wrong_parameters(answer, model, entry)
    if "uncounted" not in entry:
        wrong += wrong_flops(answer, model)
    if answer.tensors is not None:
        wrong += wrong_tensors(answer.tensors, model, tuple(entry.get("unequal", ())))
    elif "unnamed" not in entry:
        wrong.append("its weights are not read")
    return wrong


def wrong_parameters(answer: ours.Answer, model: theirs.Model, entry: dict) -> list[str]:
    count = theirs.parameters_of(model)
    numbers = count + theirs.kept_numbers_of(model)
    published = entry.get("numbers", numbers)
    wrong = []
    if answer.parameters != count:
        wrong.append(f"{answer.parameters:,} parameters, transformers has {count:,}")
    if published != numbers:
        wrong.append(f"transformers has {numbers:,} numbers in files, published {published:,}")
    return wrong


def wrong_flops(answer: ours.Answer, model: theirs.Model) -> list[str]:
    flops = theirs.forward_flops(model, LENGTH)
    if abs(answer.flops - flops) < 1:
        return []
    share = answer.flops / flops - 1
    return [f"{answer.flops:.0f} FLOPs, transformers multiplies {flops:.0f} ({share:+.3%})"]


def wrong_tensors(named: theirs.Shapes, model: theirs.Model, unequal: tuple[str, ...]) -> list[str]:
    """Every parameter of the files is read, under its name and shape; of their buffers any."""
    trained, kept = theirs.tensors_of(model)
    wrong = [f"{name} of the files is not read" for name in sorted(trained.keys() - named.keys())]
    for name in sorted(named):
        shape = trained.get(name) or kept.get(name)
        if shape is None:
            wrong.append(f"{name} is in no file")
        elif shape != named[name] and not name.endswith(unequal):
            wrong.append(f"{name} is {named[name]}, in files {shape}")
    return shortened(wrong)


def shortened(lines: list[str]) -> list[str]:
    rest = len(lines) - 4
    return lines if rest <= 0 else [*lines[:4], f"and {rest} tensors more"]


class Judge(unittest.TestCase):
    def test_lists_every_type(self):
        self.assertEqual(sorted(theirs.CLASSES), sorted([*TYPES, *LEFT_OUT]))

    def test_default_configurations(self):
        self.hold(judged_type, list(TYPES))

    def test_configurations_with_another_value_of_a_key(self):
        self.hold(judged_switches, [name for name in TYPES if "unread" not in TYPES[name]])

    def test_random_configurations(self):
        self.hold(judged_draws, [name for name in TYPES if "unread" not in TYPES[name]])

    def test_released_models(self):
        self.hold(judged_release, list(RELEASED))

    def test_models_with_encoders_of_images(self):
        self.hold(judged_composite, COMPOSITES)

    def test_flops_of_images(self):
        self.hold(judged_image, IMAGES)

    def test_released_files_are_listed(self):
        files = sorted(path.stem for path in (HERE / "released").glob("*.json"))
        self.assertEqual(files, sorted(RELEASED))

    def hold(self, judge, names):
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
            for name, wrong in [(name, pool.submit(judge, name)) for name in names]:
                with self.subTest(name):
                    self.assertEqual("", "\n".join(wrong.result()))


if __name__ == "__main__":
    unittest.main()
