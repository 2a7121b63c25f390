#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

// The functions of each target. `targets.cpp` lists which function has which role for which target.

/// Writes the file of a target, with the lines of `header` as comments at its top. Fails with
/// `kUnsupported`, naming the property, if the file cannot express one.
using TargetWriter = std::string(const plan::PlannedJob& planned,
                                 const std::vector<std::string>& header);
/// Returns `draft` with the values in files of a target. `report` gets what happened to each
/// setting, even if the reader fails. Fails with `kInput` if files contradict each other or would
/// not start, and with `kUnsupported` if no plan can express a setting.
using TargetReader = Draft(Sources files, const UserFacts& given, Draft draft,
                           ImportReport& report);
/// Returns the words that a person must add before a plan's file starts, in a sentence without a
/// full stop; empty: none.
using TargetLacks = std::string(const plan::PlannedJob& planned);
/// True if a file belongs to a target, by its content.
using TargetRecogniser = bool(const SourceFile& file);
/// True if a command starts the program of a target.
using TargetStarts = bool(Words words);

/// Writes a configuration of axolotl that trains a few steps on a small public data set.
TargetWriter write_axolotl;
/// Reads a configuration of axolotl, or a script that starts axolotl with one; together with the
/// DeepSpeed and Accelerate configurations and the config.json given with it.
TargetReader read_axolotl;
TargetStarts starts_axolotl;

/// Reads a recipe of Megatron-Bridge in the style of its own ones: a Python function,
/// `UserFacts::function`, that takes a ConfigContainer of common settings and assigns to its parts.
/// The model is the Hugging Face model that it names.
TargetReader read_bridge;

/// Writes a program for torchrun that trains the plan's model with FSDP2 or DDP (programs/fsdp.py)
/// and contains the plan as a JSON text.
TargetWriter write_fsdp;
TargetReader read_fsdp;

/// Reads configurations of GPT-NeoX, which contain DeepSpeed's keys, too. Keys can be spelt with
/// dashes or underscores; several files are merged.
TargetReader read_gpt_neox;

/// Writes a configuration of Hugging Face Accelerate: FSDP2, DDP, or DeepSpeed's ZeRO-1. Properties
/// without a key are in a comment that begins with `stepwright:`.
TargetWriter write_accelerate;
/// Reads a configuration of Accelerate, and a DeepSpeed configuration that it can name.
TargetReader read_accelerate;

/// Reads files of transformers: a model's config.json; TrainingArguments as JSON or YAML, or a
/// script that starts a program with such arguments or such a file; and the configurations of
/// DeepSpeed and Accelerate. Each at most once, in any order.
TargetReader read_huggingface;
/// True if a command starts a program that uses transformers' Trainer: it has a batch size per
/// device, or a file of settings as TRL's scripts take it.
TargetStarts starts_trainer;

/// Writes a script that starts TRL's fine-tuning or preference training: by accelerate launch with
/// FSDP2 or plain data parallelism, or by torchrun with a configuration of DeepSpeed.
TargetWriter write_trl;

/// Writes a configuration of DeepSpeed. Properties that its keys cannot express, and that the
/// training code must provide, are under the key `stepwright`, which DeepSpeed ignores.
TargetWriter write_deepspeed;
/// Reads a configuration of DeepSpeed, or a log in which DeepSpeed printed one. A value "auto"
/// counts as absent; the report says so.
TargetReader read_deepspeed;
/// Reads a script that starts a training program of its own on DeepSpeed, with a configuration that
/// the script names or writes: `--deepspeed_config FILE.json`, or the names that programs use for
/// that option. Model and sequence length are read from arguments with their usual names; the
/// report says that nothing else about the program is known. Fails with `kInput` if the
/// configuration is missing.
TargetReader read_deepspeed_script;
TargetRecogniser is_deepspeed;
/// True if a command names a configuration of DeepSpeed.
TargetStarts starts_with_deepspeed;

// Scripts that start a command, given as arguments, on all ranks of a plan, with the variables that
// the plan needs. Ranks go node by node: rank = node * devices per node + device.
/// Writes a script that starts one torchrun on each node.
TargetWriter write_torchrun;
/// Writes a batch script of Slurm that starts one torchrun on each node.
TargetWriter write_slurm;
/// Writes a script that starts Open MPI's mpirun with one process for each rank.
TargetWriter write_mpirun;

/// Writes a configuration of LLaMA-Factory that trains a few steps on a data set that comes with
/// it.
TargetWriter write_llamafactory;
/// Reads a configuration of LLaMA-Factory, and the configurations of DeepSpeed and Accelerate and
/// the config.json given with it.
TargetReader read_llamafactory;
TargetStarts starts_llamafactory;

/// Writes a configuration of MaxText for GPUs, which overrides its base.yml: sizes of a model like
/// Llama, and each axis of the mesh within nodes (ici) and across nodes (dcn).
TargetWriter write_maxtext;
TargetReader read_maxtext;

/// Writes a shell script that starts Megatron-LM's pretrain_gpt.py with torchrun; the plan runs on
/// Megatron-Core.
TargetWriter write_megatron;
/// Reads a shell script, or a file of nothing but arguments: the command with the most arguments of
/// Megatron-LM, and the numbers of nodes and processes from its launcher. Reads also the arguments
/// that a log or a model_config.yaml states (`megatron/stated.h`).
TargetReader read_megatron;

/// Writes a recipe of Megatron-Bridge (NeMo): a Python function that returns a ConfigContainer.
TargetWriter write_nemo;
/// Reads a recipe that returns a ConfigContainer with literal arguments only, or the container's
/// YAML.
TargetReader read_nemo;

/// Reads a configuration of NeMo 1 (sections `trainer` and `model`), or a shell script that starts
/// `megatron_gpt_pretraining.py` with one that is given, too. Fails with `kUnsupported` for
/// PyTorch's FSDP, adapters and an activation that no model has.
TargetReader read_nemo1;

/// Reads a configuration of nanotron: parallelism, tokens, optimizer and the model's sizes.
TargetReader read_nanotron;

/// Reads a configuration of AMD's Primus, or a script that starts Primus with one: the overrides of
/// its pre_trainer module, in the words of Megatron-LM or torchtitan, with the defaults of Primus's
/// trainer_base.yaml.
TargetReader read_primus;

/// Writes a configuration of NeMo-RL whose policy trains under Megatron-Core for a few steps of
/// supervised training on a public data set.
TargetWriter write_nemo_rl;
/// Reads the training part of the policy in a NeMo-RL configuration: Megatron-Core (megatron_cfg)
/// or DTensor (dtensor_cfg). A file overrides the one that its `defaults` names, if that is given,
/// too. Generation, reference and critic are ignored.
TargetReader read_nemo_rl;

/// Writes a script that starts a trainer of OpenRLHF: fine-tuning, preferences, or policies under
/// Ray.
TargetWriter write_openrlhf;
/// Reads a script that starts a trainer of OpenRLHF: fine-tuning, preferences and rewards under
/// DeepSpeed's launcher, or reinforcement learning under Ray, whose step is the actor's update. The
/// configuration of DeepSpeed is derived from the arguments, as OpenRLHF derives it.
TargetReader read_openrlhf;
TargetStarts starts_openrlhf;

/// Writes a script that starts verl's trainer of policies on FSDP, with Hydra's NAME=VALUE words,
/// for GRPO or PPO on a public data set.
TargetWriter write_verl;
/// Reads the training part of verl's actor, from YAML or from a script that starts verl.trainer
/// with Hydra's NAME=VALUE words: Megatron-Core or FSDP. A step is one update of the actor, on
/// ppo_mini_batch_size prompts with their answers, each as long as prompt and answer may be.
/// Rollouts, reference and critic are ignored.
TargetReader read_verl;

/// Writes a script that starts `megatron sft` (Megatron-SWIFT) for a few steps on a public data
/// set.
TargetWriter write_swift;
/// Reads a shell script that starts `swift sft` or `megatron sft` of ms-swift, or the arguments of
/// `swift sft` as YAML; together with a configuration of DeepSpeed and a model's config.json.
TargetReader read_swift;

/// Writes a configuration of torchtitan: TOML for releases up to 0.2.2, a Python function that
/// returns a Trainer.Config for later ones.
TargetWriter write_torchtitan;
TargetLacks torchtitan_lacks;
/// Reads a TOML file of torchtitan, or the literal arguments of the single call of Trainer.Config
/// in a Python file.
TargetReader read_torchtitan;

/// Writes a configuration of torchtune that trains a few steps on a small public data set.
TargetWriter write_torchtune;
TargetLacks torchtune_lacks;
/// Reads a configuration of torchtune, or a script that starts torchtune with one (`tune run`).
/// Fails with `kUnsupported` if it trains nothing.
TargetReader read_torchtune;

}  // namespace stepwright::framework_files
