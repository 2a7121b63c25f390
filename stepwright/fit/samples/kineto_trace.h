#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright {

/// An operator of the framework on a thread of the host (`cat: cpu_op`).
struct KinetoOperator {
  std::string name;                             ///< "aten::mm", "MmBackward0", ...
  std::vector<std::vector<std::int64_t>> dims;  ///< `Input Dims`; empty for what is no tensor.
  std::vector<std::string> types;               ///< `Input type`.
  std::vector<std::string> values;              ///< `Concrete Inputs`; empty for tensors.
  std::int64_t sequence = -1;  ///< Joins a node of the backward with its forward; -1: none.
  int parent = -1;             ///< The operator that encloses it on its thread; -1: none.
};

/// What a kernel of NCCL says about its message.
struct KinetoMessage {
  std::string collective;  ///< "allreduce", "_allgather_base", ...
  std::string dtype;       ///< "BFloat16", "Float", ...
  std::string ranks;       ///< "[0, 1, 2, 3]"; long lists are cut: "[0, 1, ...]".
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int64_t group_size = 0;
  bool even = true;  ///< No list of split sizes.
};

/// A kernel on the device (`cat: kernel`).
struct KinetoKernel {
  std::size_t event = 0;  ///< Its number among the events of the file, from 1.
  std::string name;
  double start_us = 0;
  double duration_us = 0;
  int op = -1;        ///< The innermost operator that launched it; -1: not known.
  bool alone = true;  ///< No kernel of another stream ran beside more than 2 % of it.
  std::optional<KinetoMessage> message;
};

/// What the PyTorch profiler exported, as far as samples need it.
struct KinetoTrace {
  std::string file;    ///< What stands for it in messages.
  std::string device;  ///< Name of the first device: "NVIDIA H100 80GB HBM3".
  std::vector<KinetoOperator> operators;
  std::vector<KinetoKernel> kernels;  ///< In file order.
};

/// Whether a text is JSON, or JSON that is packed, rather than a table.
bool is_kineto_trace(std::string_view text);

/// Reads what `export_chrome_trace` of torch.profiler wrote: kernels are joined with the operator
/// of their `External id`, or else of the launch with their `correlation`; operators nest by time
/// on their thread. Fails with `kInput`, saying what to do, when the text is packed, no JSON or no
/// trace, or has no kernels.
KinetoTrace read_kineto_trace(std::string_view text, const std::string& file);

}  // namespace stepwright
