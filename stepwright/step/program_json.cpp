#include "stepwright/step/program_json.h"

#include <nlohmann/json.hpp>

namespace stepwright::step {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const OperatorShape& shape) {
  const std::pair<const char*, std::int64_t> fields[] = {
      {"rows", shape.rows},           {"columns", shape.columns}, {"inner", shape.inner},
      {"batch", shape.batch},         {"heads", shape.heads},     {"kv_heads", shape.kv_heads},
      {"queries", shape.queries},     {"keys", shape.keys},       {"head_dim", shape.head_dim},
      {"value_dim", shape.value_dim}, {"pairs", shape.pairs}};
  Json out = Json::object();
  for (const auto& [name, value] : fields) {
    if (value != 0) out[name] = value;
  }
  return out;
}

Json operator_json(const OperatorTemplate& piece, const Operator& op) {
  Json out{{"kind", name_of(kOperatorNames, op.kind)},
           {"name", op.name},
           {"phase", name_of(kPhaseNames, op.phase)},
           {"stream", name_of(kStreamNames, op.stream)},
           {"dtype", name_of(kDTypeNames, op.dtype)}};
  if (is_communication(op.kind)) {
    out["scheme"] = name_of(kSchemeNames, op.scheme);
    out["group"] = name_of(plan::kGroupNames, op.group);
    out["payload_elements"] = op.payload_elements;
    out["payload_bytes"] = op.payload_bytes();
  } else {
    out["shape"] = shape_json(op.shape);
  }
  if (op.repeats != 1) out["repeats"] = op.repeats;
  if (op.routed) out["routed"] = true;
  if (op.gated) out["gated"] = true;
  if (op.in_pieces) out["in_pieces"] = true;
  if (op.parameter >= 0) {
    out["parameter"] = piece.parameters[static_cast<std::size_t>(op.parameter)].name;
  }
  out["reads"] = piece.reads(op);
  out["writes"] = piece.writes(op);
  out["after"] = piece.after(op);
  return out;
}

Json tensor_json(const TemplateTensor& tensor) {
  Json out{{"name", tensor.name},
           {"kind", name_of(kTensorKindNames, tensor.kind)},
           {"dtype", name_of(kDTypeNames, tensor.dtype)},
           {"extents", tensor.extents},
           {"bytes", tensor.bytes()}};
  if (tensor.routed) out["routed"] = true;
  if (tensor.on_host) out["on_host"] = true;
  return out;
}

Json parameter_json(const RankLocalParameter& parameter) {
  Json out{{"name", parameter.name},
           {"rows", parameter.rows},
           {"columns", parameter.columns},
           {"copies", parameter.copies}};
  if (parameter.expert) out["expert"] = true;
  if (parameter.tensor_replicated) out["tensor_replicated"] = true;
  if (parameter.borrowed) out["borrowed"] = true;
  return out;
}

Json template_json(const OperatorTemplate& piece) {
  Json out{{"name", piece.name}};
  out["operators"] = Json::array();
  for (const Operator& op : piece.operators) out["operators"].push_back(operator_json(piece, op));
  out["tensors"] = Json::array();
  for (const TemplateTensor& tensor : piece.tensors) out["tensors"].push_back(tensor_json(tensor));
  out["parameters"] = Json::array();
  for (const RankLocalParameter& p : piece.parameters)
    out["parameters"].push_back(parameter_json(p));
  out["inputs"] = piece.inputs;
  out["outputs"] = piece.outputs;
  out["saved"] = piece.saved;
  out["restored"] = piece.restored;
  return out;
}

Json sequence_json(const TemplateSequence& sequence) {
  Json items = Json::array();
  for (const TemplateSequenceItem& item : sequence.items) {
    Json inputs = Json::array();
    for (const OperatorTemplateInputSource& source : item.inputs)
      inputs.push_back({source.item, source.output});
    Json& out = items.emplace_back(Json{{"template", item.which},
                                        {"layer", item.layer},
                                        {"after", item.after},
                                        {"inputs", std::move(inputs)}});
    if (item.beside_layer >= 0) out["beside_layer"] = item.beside_layer;
    if (item.strand > 0) out["strand"] = item.strand;
  }
  Json out{{"direction", name_of(schedule::kDirectionNames, sequence.direction)},
           {"chunk", sequence.chunk},
           {"items", std::move(items)}};
  if (sequence.beside >= 0) out["beside"] = sequence.beside;
  return out;
}

Json stage_json(const PipelineStageProgram& stage) {
  Json out{{"position", stage.position},
           {"chunks", stage.chunks},
           {"states",
            {{"parameters", stage.states.parameters},
             {"gradients", stage.states.gradients},
             {"optimizer", stage.states.optimizer}}},
           {"dense_parameters", stage.dense_parameters},
           {"expert_parameters", stage.expert_parameters}};
  const std::int64_t host = stage.states.host.bytes();
  if (host > 0) out["states"]["host"] = host;
  if (stage.states.others.bytes() > 0) out["states"]["others"] = stage.states.others.bytes();
  out["sequences"] = Json::array();
  for (const TemplateSequence& sequence : stage.sequences) {
    out["sequences"].push_back(sequence_json(sequence));
  }
  out["schedule"] = Json::array();
  for (const PipelineScheduleSlot& slot : stage.schedule) {
    Json& entry = out["schedule"].emplace_back(Json{slot.sequence, slot.micro_batch});
    if (slot.beside >= 0) entry.push_back(slot.beside);
  }
  return out;
}

}  // namespace

nlohmann::ordered_json step_program_json(const StepProgram& program) {
  Json groups = Json::object();
  for (int kind = 1; kind < plan::kGroupKinds; ++kind) {
    groups[std::string(name_of(plan::kGroupNames, static_cast<plan::CommunicatorKind>(kind)))] =
        program.group_sizes[static_cast<std::size_t>(kind)];
  }
  Json out{{"stepwright", "program/1"},
           {"ranks", program.ranks},
           {"micro_batches", program.micro_batches},
           {"imbalance", program.imbalance},
           {"groups", std::move(groups)}};
  out["templates"] = Json::array();
  for (const OperatorTemplate& piece : program.templates)
    out["templates"].push_back(template_json(piece));
  out["stages"] = Json::array();
  for (const PipelineStageProgram& stage : program.stages)
    out["stages"].push_back(stage_json(stage));
  return out;
}

}  // namespace stepwright::step
