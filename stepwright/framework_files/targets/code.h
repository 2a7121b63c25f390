#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

// The code of each target: `targets.cpp` says which function does what for which.

/// Writes the file of a target; `header` stands on top as comments. Fails with `kUnsupported` on
/// what the file cannot say, naming it.
using TargetWriter = std::string(const plan::PlannedJob& planned,
                                 const std::vector<std::string>& header);
/// Returns `draft` with what files of a target say; `report` gets what became of each setting, also
/// of a reader that fails. Fails with `kInput` where they contradict each other or do not start,
/// and with `kUnsupported` on what no plan has.
using TargetReader = Draft(Sources files, const Given& given, Draft draft, ImportReport& report);
/// Returns the words that a person must add, in a sentence without a full stop, before the file of
/// a plan starts; empty: nothing.
using TargetLacks = std::string(const plan::PlannedJob& planned);
/// True if a file is of a target, by its content.
using TargetRecogniser = bool(const SourceFile& file);
/// True if a command starts the program of a target.
using TargetStarts = bool(Words words);

/// A configuration of axolotl that trains a few steps on a small public data set.
TargetWriter write_axolotl;
/// Such a configuration, or a script that starts it with one, and those of DeepSpeed and Accelerate
/// and the config.json beside it.
TargetReader read_axolotl;
TargetStarts starts_axolotl;

/// A recipe of Megatron-Bridge as its own are: a Python function, `Given::function`, that takes a
/// ConfigContainer of common settings and assigns to its parts. The model is the one of the hub
/// that it names.
TargetReader read_bridge;

/// A program for torchrun that trains the plan's model with FSDP2 or DDP (programs/fsdp.py), the
/// plan as a JSON text in it.
TargetWriter write_fsdp;
TargetReader read_fsdp;

/// Configurations of GPT-NeoX, whose words may have dashes or underscores and which carry those of
/// DeepSpeed; several files are one.
TargetReader read_gpt_neox;

/// A configuration of Hugging Face Accelerate: FSDP2, DDP, or DeepSpeed's ZeRO-1. What it has no
/// key for stands in a comment that begins with `stepwright:`.
TargetWriter write_accelerate;
/// Such a configuration, and a DeepSpeed one beside it that it may name.
TargetReader read_accelerate;

/// Files of transformers: a model's config.json, TrainingArguments as JSON or YAML or a script that
/// starts a program with them or with such a file, and the configurations of DeepSpeed and
/// Accelerate beside them; each at most once, in any order.
TargetReader read_huggingface;
/// True if a command starts a program on transformers' Trainer: it has a batch of each device, or a
/// file of settings as TRL's scripts take it.
TargetStarts starts_trainer;

/// A script that starts TRL's fine-tuning or its preferences by accelerate launch, with FSDP2 or
/// plain data parallelism, or by torchrun with a configuration of DeepSpeed.
TargetWriter write_trl;

/// A configuration of DeepSpeed. What its keys cannot say and the training code must do stands
/// under the key `stepwright`, which DeepSpeed passes over.
TargetWriter write_deepspeed;
/// Such a configuration, or the log in which DeepSpeed has printed it; "auto" is as good as
/// nothing, which the report says.
TargetReader read_deepspeed;
/// A script that starts a training program of its own on DeepSpeed, with the configuration that it
/// names or writes: `--deepspeed_config FILE.json` and the names that programs have for the same.
/// Model and length are read under the usual names of arguments; what else the program does is not
/// known, which the report says. Fails with `kInput` where the configuration is not given.
TargetReader read_deepspeed_script;
TargetRecogniser is_deepspeed;
/// True if a command names a configuration of DeepSpeed.
TargetStarts starts_with_deepspeed;

// Scripts that start a command, given as their arguments, as all ranks of a plan: node by node, so
// that rank = node * devices of a node + device, with the variables that the plan needs.
/// One torchrun on each node.
TargetWriter write_torchrun;
/// A batch script of Slurm that starts one torchrun on each node.
TargetWriter write_slurm;
/// Open MPI's mpirun, one process for each rank.
TargetWriter write_mpirun;

/// A configuration of LLaMA-Factory that trains a few steps on a data set of its own.
TargetWriter write_llamafactory;
/// A configuration of LLaMA-Factory, and those of DeepSpeed and Accelerate and the config.json
/// beside it.
TargetReader read_llamafactory;
TargetStarts starts_llamafactory;

/// A configuration of MaxText for GPUs, over its base.yml: sizes of a model like Llama, and each
/// axis of its mesh inside nodes (ici) and across them (dcn).
TargetWriter write_maxtext;
TargetReader read_maxtext;

/// A shell script that starts Megatron-LM's pretrain_gpt.py with torchrun. The plan runs on
/// Megatron-Core.
TargetWriter write_megatron;
/// A shell script, or a file of nothing but arguments: the command with most arguments of
/// Megatron-LM, and of its launcher the numbers of nodes and processes. Or the arguments that a log
/// or a model_config.yaml states (`megatron/stated.h`).
TargetReader read_megatron;

/// A recipe of Megatron-Bridge (NeMo): a Python function that returns a ConfigContainer.
TargetWriter write_nemo;
/// Such a recipe, of which all arguments must be literals, or the YAML of a ConfigContainer.
TargetReader read_nemo;

/// A configuration of NeMo 1 (sections `trainer` and `model`), or a shell script that starts
/// `megatron_gpt_pretraining.py` with one that is given beside it. Fails with `kUnsupported` on
/// PyTorch's FSDP, on adapters and on an activation that no model has.
TargetReader read_nemo1;

/// A configuration of nanotron: parallelism, tokens, optimizer and the model's sizes.
TargetReader read_nanotron;

/// A configuration of AMD's Primus: the overrides of its pre_trainer module, in the words of
/// Megatron-LM or of torchtitan, with the defaults of its own trainer_base.yaml; or a script that
/// starts it with one.
TargetReader read_primus;

/// A configuration of NeMo-RL whose policy trains under Megatron-Core, for a few steps of
/// supervised training on a public data set.
TargetWriter write_nemo_rl;
/// The training part of the policy of a NeMo-RL configuration: Megatron-Core (megatron_cfg) or
/// DTensor (dtensor_cfg). A file goes over the one that its `defaults` names, where that is given
/// too. Generation, reference and critic are left out.
TargetReader read_nemo_rl;

/// A script that starts a trainer of OpenRLHF: fine-tuning, preferences, or policies under Ray.
TargetWriter write_openrlhf;
/// A script that starts a trainer of OpenRLHF: fine-tuning, preferences and rewards under the
/// launcher of DeepSpeed, reinforcement learning under Ray, of which the actor's update is the
/// step. Configurations of DeepSpeed are made from the arguments, as OpenRLHF makes them.
TargetReader read_openrlhf;
TargetStarts starts_openrlhf;

/// A script that starts verl's trainer of policies on FSDP with words of Hydra, for GRPO or PPO on
/// a public data set.
TargetWriter write_verl;
/// The training part of verl's actor, of its YAML or of a script that starts verl.trainer with
/// words of Hydra: Megatron-Core or FSDP. A step is one update of the actor, of ppo_mini_batch_size
/// prompts with their answers, each as long as prompt and answer may be. Rollouts, reference and
/// critic are left out.
TargetReader read_verl;

/// A script that starts `megatron sft` (Megatron-SWIFT) for a few steps on a public data set.
TargetWriter write_swift;
/// A shell script that starts `swift sft` or `megatron sft` of ms-swift, or the former's arguments
/// as YAML, and a configuration of DeepSpeed and the config.json of a model beside it.
TargetReader read_swift;

/// A configuration of torchtitan: TOML up to 0.2.2, a Python function that returns a Trainer.Config
/// after it.
TargetWriter write_torchtitan;
TargetLacks torchtitan_lacks;
/// Such a TOML file, or of a Python file the arguments of its one call of Trainer.Config, as far as
/// they are literals.
TargetReader read_torchtitan;

/// A configuration of torchtune that trains a few steps on a small public data set.
TargetWriter write_torchtune;
TargetLacks torchtune_lacks;
/// A configuration of torchtune, or a script that starts it with one (`tune run`). Fails with
/// `kUnsupported` where nothing is trained.
TargetReader read_torchtune;

}  // namespace stepwright::framework_files
