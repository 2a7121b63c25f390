#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepwright::capture {

/// The behaviour of a stand-in in place of a program.
enum class StandInKind {
  kLaunch,   ///< Records the command as a launch: torchrun, deepspeed, swift, ...
  kPython,   ///< Records a file or module as a launch; really runs `-c`, standard input and pip.
  kCarrier,  ///< Runs the command after its options: srun, mpirun, docker, ssh, ...
  kSubmit,   ///< Runs the batch script: sbatch, salloc, qsub, bsub.
  kAnswer,   ///< Reports nodes and devices: scontrol, nvidia-smi, ...
  kIdle,     ///< Does nothing and succeeds: scancel, wandb, module, ...
  /// Really runs the program, but with stand-ins for launchers given by path: nohup, env, ...
  kWrapper,
  kShell,   ///< Really runs the shell, and counts how deep scripts call each other: sh, dash, ...
  kWriter,  ///< Does nothing if the capture forbids commands that write: cp, rm, pip, git, ...
};

/// A program that a capture replaces by a stand-in.
struct StandInProgram {
  std::string name;
  StandInKind kind;
};

/// Returns all programs that have a stand-in (tools.yaml), each name once.
std::span<const StandInProgram> stand_in_programs();

/// Returns the kind of a program by its name without folders; nullopt if it has no stand-in.
std::optional<StandInKind> find_stand_in_kind(std::string_view name);

/// True for a program that starts others or training: kLaunch, kPython, kCarrier, kSubmit.
bool is_launcher(StandInKind kind);

/// True for a shell: bash, sh, dash, zsh, ksh, csh, tcsh, fish.
bool is_shell(std::string_view name);

}  // namespace stepwright::capture
