#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepwright::capture {

/// Behaviour of the stand-in that replaces a program while a script is captured.
enum class ProgramStandInKind {
  /// Records the command as a launch instead of running it: torchrun, deepspeed, swift, ...
  kLaunch,
  /// Python: records a training file or module as a launch; really runs `-c`, standard input and
  /// pip.
  kPython,
  /// Runs the command that follows the program's options: srun, mpirun, docker, ssh, ...
  kCarrier,
  kSubmit,  ///< Runs the submitted batch script at once: sbatch, salloc, qsub, bsub.
  kAnswer,  ///< Prints nodes and devices of the job: scontrol, nvidia-smi, ...
  kIdle,    ///< Does nothing and succeeds, as if the program had run: scancel, wandb, module, ...
  /// Really runs the program and the command after it, with launchers given by path replaced:
  /// nohup, env, ...
  kWrapper,
  /// Really runs the shell, and limits how deep scripts may call each other: sh, dash, ...
  kShell,
  /// Does nothing if the capture forbids commands that write files, else runs: cp, rm, pip, git,
  /// ...
  kWriter,
};

/// A program that a capture replaces by a stand-in, and the stand-in's behaviour.
struct ProgramWithStandIn {
  std::string name;
  ProgramStandInKind kind;
};

/// Returns all programs that a capture replaces by stand-ins (tools.yaml), each name once.
std::span<const ProgramWithStandIn> programs_replaced_in_capture();

/// Returns what the stand-in for a program does, by the program's name without folders; nullopt if
/// the program has no stand-in.
std::optional<ProgramStandInKind> find_stand_in_kind(std::string_view name);

/// True for kinds of programs that start others or training: kLaunch, kPython, kCarrier, kSubmit.
bool is_launching_program_kind(ProgramStandInKind kind);

/// True for the name of a shell: bash, sh, dash, zsh, ksh, csh, tcsh, fish.
bool is_shell_program_name(std::string_view name);

}  // namespace stepwright::capture
