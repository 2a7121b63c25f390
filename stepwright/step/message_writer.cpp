#include "stepwright/step/message_writer.h"

#include "stepwright/core/divide_up.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::step {
void MessageTemplateBuilder::message(const BucketedGroupMessage& m) {
  if (m.size <= 1 || m.elements <= 0) return;
  const std::int64_t pieces = bucketed_message_pieces(m.elements, m.bucket);
  const std::int64_t shard = ceil_divide(ceil_divide(m.elements, pieces), m.size);
  const bool sharded = m.kind != OperatorKind::kAllReduce;
  const Operator op{.kind = m.kind,
                    .phase = m.phase,
                    .stream = m.stream,
                    .scheme = m.scheme,
                    .group = m.group,
                    .dtype = m.dtype,
                    .payload_elements = sharded ? shard * m.size : ceil_divide(m.elements, pieces),
                    .repeats = pieces,
                    .name = m.name,
                    .purpose = m.purpose};
  append(op);
}

void MessageTemplateBuilder::append(const Operator& op) {
  last_ = builder.add(op, reads, writes, std::span(&last_, 1));
}

}  // namespace stepwright::step
