#include "stepwright/diagnose/diagnose_json.h"

#include <nlohmann/json.hpp>

namespace stepwright::diagnose {
namespace {

nlohmann::ordered_json finding_json(const FaultFinding& finding) {
  nlohmann::ordered_json where = {{"file", finding.where.file}};
  if (finding.where.line > 0) where["line"] = finding.where.line;
  if (!finding.where.call.empty()) where["call"] = finding.where.call;
  nlohmann::ordered_json changes = nlohmann::ordered_json::array();
  for (const std::string& words : finding.changes) {
    changes.push_back({{"words", words}, {"gain_s", nullptr}});
  }
  nlohmann::ordered_json json = {{"kind", name_of(kFindingKindNames, finding.kind)}};
  json["lost_s"] = nullptr;
  if (finding.lost_s) json["lost_s"] = *finding.lost_s;
  json["lost_bytes"] = nullptr;
  if (finding.lost_bytes) json["lost_bytes"] = *finding.lost_bytes;
  json["ranks"] = finding.ranks;
  json["where"] = std::move(where);
  json["what"] = finding.what;
  json["evidence"] = finding.evidence;
  json["causes"] = finding.causes;
  json["changes"] = std::move(changes);
  return json;
}

}  // namespace

nlohmann::ordered_json diagnosis_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["files"] = nlohmann::ordered_json::array();
  for (const DiagnosedFile& file : diagnosis.files) {
    json["files"].push_back(
        {{"path", file.path}, {"what", file.what}, {"ranks", file.ranks}, {"steps", file.steps}});
  }
  json["findings"] = nlohmann::ordered_json::array();
  for (const FaultFinding& finding : diagnosis.findings)
    json["findings"].push_back(finding_json(finding));
  json["notes"] = diagnosis.notes;
  return json;
}

}  // namespace stepwright::diagnose
