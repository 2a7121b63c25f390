#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

std::optional<double> closed_form_s(ScheduleKind kind, const UniformPipeline& pipeline) {
  const ScheduleDefinition& definition = definition_of(kind);
  if (definition.uniform_s != nullptr) return definition.uniform_s(pipeline);
  if (definition.form.seconds == nullptr) return std::nullopt;
  const auto stages = static_cast<std::size_t>(pipeline.stages);
  const std::vector<double> forward(stages, pipeline.forward_s);
  const std::vector<double> backward(stages, pipeline.backward_s);
  const std::vector<double> chunk(
      static_cast<std::size_t>(pipeline.chunks),
      (pipeline.forward_s + pipeline.backward_s) / static_cast<double>(pipeline.chunks));
  return definition.form.seconds(pipeline.micro_batches, {forward, backward, chunk, 0});
}

ChunkCountRange chunk_range(ScheduleKind kind, std::int64_t positions) {
  const ScheduleTraits& traits = traits_of(kind);
  if (!traits.several_apart) return {traits.least_chunks, traits.most_chunks};
  return positions > 1 ? ChunkCountRange{2, traits.most_chunks} : ChunkCountRange{1, 1};
}

std::vector<std::int64_t> chunk_counts_to_try(ScheduleKind kind,
                                              const std::vector<std::int64_t>& listed) {
  if (has_chunk_choice(kind)) return listed;
  return {traits_of(kind).least_chunks};
}

std::vector<std::int64_t> strand_counts_to_try(ScheduleKind kind,
                                               const std::vector<std::int64_t>& listed) {
  if (traits_of(kind).pairs) return listed;
  return {1};
}

}  // namespace stepwright::schedule
