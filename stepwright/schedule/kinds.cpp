#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

std::optional<double> schedule_closed_form_s(PipelineScheduleKind kind,
                                             const UniformPipeline& pipeline) {
  const PipelineScheduleDefinition& definition = definition_of(kind);
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

ChunksPerPositionRange chunk_range(PipelineScheduleKind kind, std::int64_t positions) {
  const PipelineScheduleTraits& traits = traits_of(kind);
  if (!traits.several_apart) return {traits.least_chunks, traits.most_chunks};
  return positions > 1 ? ChunksPerPositionRange{2, traits.most_chunks}
                       : ChunksPerPositionRange{1, 1};
}

std::vector<std::int64_t> model_chunk_counts_to_try(PipelineScheduleKind kind,
                                                    const std::vector<std::int64_t>& listed) {
  if (supports_several_chunk_counts(kind)) return listed;
  return {traits_of(kind).least_chunks};
}

std::vector<std::int64_t> micro_batch_stream_counts_to_try(
    PipelineScheduleKind kind, const std::vector<std::int64_t>& listed) {
  if (traits_of(kind).pairs) return listed;
  return {1};
}

}  // namespace stepwright::schedule
