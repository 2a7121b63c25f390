#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

// The functions of each target. `targets.cpp` lists which function has which role for which target.

/// A function that returns the text of a plan's file for one framework or launcher, with the lines
/// of `header` as comments at its top. Fails with `kUnsupported`, naming it, for a property of the
/// plan that the file cannot express.
using TargetWriter = std::string(const plan::PlannedJob& planned,
                                 const std::vector<std::string>& header);
/// A function that reads one framework's files into `draft` and records in `report` what happened
/// to each setting. Fails with `kInput` if files contradict each other or would not start, and with
/// `kUnsupported` if no plan can express a setting.
using TargetReader = PlanDraft(Sources files, const UserFacts& given, PlanDraft draft,
                               ImportReport& report);
/// A function that returns what the user must fill in before a plan's written file starts, as a
/// sentence without full stop; empty: nothing.
using TargetMissingText = std::string(const plan::PlannedJob& planned);
/// A function that is true if a file's content shows that it is one framework's file.
using TargetRecogniser = bool(const SourceFile& file);
/// A function that is true if a shell command starts one framework's training program.
using TargetStarts = bool(Words words);

/// Writes a configuration of axolotl that trains a few steps on a small public data set.
TargetWriter write_axolotl;
/// Reads a configuration of axolotl, or a script that starts axolotl with one; together with the
/// DeepSpeed and Accelerate configurations and the config.json given with it.
TargetReader read_axolotl;
TargetStarts starts_axolotl;

/// Reads a Megatron-Bridge recipe, or a script that starts one. A recipe is a Python function,
/// which the user names, that takes a ConfigContainer of common settings and changes its parts. The
/// model is the Hugging Face model that the recipe names.
TargetReader read_bridge;

/// Writes a complete PyTorch program for torchrun that trains the plan's model with FSDP2 or DDP;
/// the program contains the plan as JSON.
TargetWriter write_fsdp;
TargetReader read_fsdp;

/// Reads GPT-NeoX's configurations, or a script that starts GPT-NeoX with them. Several files are
/// merged; they also contain DeepSpeed's keys; keys may have dashes or underscores.
TargetReader read_gpt_neox;

/// Writes a Hugging Face Accelerate configuration: FSDP2, DDP, or DeepSpeed's ZeRO-1. Properties
/// that it has no key for, such as the batch, are in a comment that begins with `stepwright:`.
TargetWriter write_accelerate;
/// Reads a configuration of Accelerate, and a DeepSpeed configuration that it can name.
TargetReader read_accelerate;

/// Reads the files that start a program on transformers' Trainer, in any order, each at most once:
/// TrainingArguments as JSON or YAML, or a script with such arguments or file; a model's
/// config.json; configurations of DeepSpeed and Accelerate.
TargetReader read_huggingface;
/// True if a shell command starts a program that uses transformers' Trainer, recognised by
/// `--per_device_train_batch_size` or a file of settings as TRL's scripts take it.
TargetStarts starts_trainer;

/// Writes a script that starts TRL's fine-tuning or preference training: by accelerate launch with
/// FSDP2 or plain data parallelism, or by torchrun with a configuration of DeepSpeed.
TargetWriter write_trl;

/// Writes a DeepSpeed configuration (JSON). Properties that DeepSpeed has no key for, so that the
/// training code must set them, are under the key `stepwright`, which DeepSpeed ignores.
TargetWriter write_deepspeed;
/// Reads a configuration of DeepSpeed, or a log in which DeepSpeed printed one. A value "auto"
/// counts as absent; the report says so.
TargetReader read_deepspeed;
/// Reads a script that starts an unknown training program with a DeepSpeed configuration
/// (`--deepspeed_config FILE.json` or similar). Model and sequence length come from arguments with
/// usual names; the rest of the program is reported as unknown. Fails with `kInput` if FILE is
/// missing.
TargetReader read_deepspeed_script;
TargetRecogniser is_deepspeed;
/// True if a shell command names a DeepSpeed configuration (`--deepspeed_config FILE.json` or
/// similar).
TargetStarts starts_with_deepspeed;

// Scripts that start a command, given as arguments, on all ranks of a plan, with the variables that
// the plan needs. Ranks go node by node: rank = node * devices per node + device.
/// Writes a shell script, to be run on each node, that starts the user's program with torchrun.
TargetWriter write_torchrun;
/// Writes a Slurm batch script that starts the user's program with one torchrun on each node.
TargetWriter write_slurm;
/// Writes a shell script that starts the user's program with Open MPI's mpirun, one process per
/// rank.
TargetWriter write_mpirun;

/// Writes a configuration of LLaMA-Factory that trains a few steps on a data set that LLaMA-Factory
/// contains.
TargetWriter write_llamafactory;
/// Reads a configuration of LLaMA-Factory, and the configurations of DeepSpeed and Accelerate and
/// the config.json given with it.
TargetReader read_llamafactory;
TargetStarts starts_llamafactory;

/// Writes a MaxText configuration for GPUs that overrides MaxText's base.yml: sizes of a Llama-like
/// model, and degrees of parallelism within nodes (ici) and across nodes (dcn).
TargetWriter write_maxtext;
TargetReader read_maxtext;

/// Writes a shell script that starts Megatron-LM's pretrain_gpt.py with torchrun; the plan runs on
/// Megatron-Core.
TargetWriter write_megatron;
/// Reads Megatron-LM's arguments from a shell script, with numbers of nodes and processes from its
/// launcher; from a file of arguments alone; from a log in which Megatron-LM printed them; or from
/// a model_config.yaml of Megatron-LM's functional tests.
TargetReader read_megatron;

/// Writes a recipe of Megatron-Bridge (NeMo): a Python function that returns a ConfigContainer.
TargetWriter write_nemo;
/// Reads a Megatron-Bridge (NeMo) recipe: a Python function that returns a ConfigContainer with
/// literal arguments only, or the ConfigContainer as YAML.
TargetReader read_nemo;

/// Reads a NeMo 1 configuration (sections `trainer` and `model`), or a shell script that starts
/// `megatron_gpt_pretraining.py` with one. Fails with `kUnsupported` for PyTorch's FSDP, adapters,
/// and activations that no model here has.
TargetReader read_nemo1;

/// Reads a nanotron configuration (parallelism, batch, optimizer, model sizes), or a script that
/// starts nanotron with one.
TargetReader read_nanotron;

/// Reads an experiment file of AMD's Primus, or a script that starts Primus with one: the overrides
/// of its pre_trainer module, named as in Megatron-LM or torchtitan, with the defaults of Primus's
/// trainer_base.yaml.
TargetReader read_primus;

/// Writes a NeMo-RL configuration for the plan's method (SFT, DPO, GRPO) that trains the policy
/// with Megatron-Core, a few steps on a public data set.
TargetWriter write_nemo_rl;
/// Reads a NeMo-RL configuration, or a script that starts NeMo-RL with one: training method, and
/// how the policy is trained, by Megatron-Core (megatron_cfg) or DTensor (dtensor_cfg). The file is
/// merged over the one that its `defaults` names, if that is given.
TargetReader read_nemo_rl;

/// Writes a shell script that starts OpenRLHF's trainer for the plan's method: fine-tuning,
/// preferences (DPO), or reinforcement learning under Ray.
TargetWriter write_openrlhf;
/// Reads a script that starts an OpenRLHF trainer: fine-tuning, preferences and reward models under
/// DeepSpeed's launcher, or reinforcement learning under Ray, where a step is one update of the
/// actor. The DeepSpeed configuration is derived from the arguments, as OpenRLHF does.
TargetReader read_openrlhf;
TargetStarts starts_openrlhf;

/// Writes a shell script that starts verl's reinforcement learning on FSDP with Hydra's NAME=VALUE
/// arguments, for GRPO or PPO on a public data set.
TargetWriter write_verl;
/// Reads verl's fine-tuning or reinforcement learning, on Megatron-Core or FSDP, from YAML or from
/// a script that starts verl.trainer with NAME=VALUE arguments. A step is one update of the actor
/// on ppo_mini_batch_size prompts with their answers, all counted at the largest length.
TargetReader read_verl;

/// Writes a shell script that starts ms-swift's `megatron sft` for a few steps on a public data
/// set.
TargetWriter write_swift;
/// Reads a shell script that starts ms-swift's `swift sft` or `megatron sft`, or the arguments of
/// `swift sft` as YAML, with the DeepSpeed configuration and config.json given with it.
TargetReader read_swift;

/// Writes a configuration of torchtitan: TOML for releases up to 0.2.2, a Python function that
/// returns a Trainer.Config for later ones.
TargetWriter write_torchtitan;
TargetMissingText torchtitan_lacks;
/// Reads a torchtitan configuration: a TOML file, JSON that torchtitan logs, a Python function that
/// returns a Trainer.Config, or a script that starts torchtitan.
TargetReader read_torchtitan;

/// Writes a configuration of torchtune that trains a few steps on a small public data set.
TargetWriter write_torchtune;
TargetMissingText torchtune_lacks;
/// Reads a configuration of torchtune, or a script that starts torchtune with one (`tune run`).
/// Fails with `kUnsupported` if it trains nothing.
TargetReader read_torchtune;

}  // namespace stepwright::framework_files
