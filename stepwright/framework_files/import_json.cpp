#include "stepwright/framework_files/import_json.h"

#include <nlohmann/json.hpp>

#include "stepwright/plan/files.h"

namespace stepwright::framework_files {
namespace {

using Json = nlohmann::ordered_json;

Json line_json(std::uint32_t line) { return line > 0 ? Json(line) : Json(nullptr); }

}  // namespace

Json imported_plan_json(const ImportedPlan& imported) {
  const ImportReport& report = imported.report;
  Json json{{"plan", plan::plan_json(imported.planned)},
            {"from", imported.target},
            {"read", Json::array()},
            {"assumed", Json::array()},
            {"not_read", Json::array()},
            {"notes", imported.planned.job.notes}};
  for (const ImportedSetting& one : report.read) {
    json["read"].push_back({{"name", one.name},
                            {"value", one.value},
                            {"file", one.file},
                            {"line", line_json(one.line)},
                            {"field", one.field}});
  }
  for (const AssumedPlanField& one : report.assumed) {
    json["assumed"].push_back({{"field", one.field}, {"value", one.value}, {"why", one.why}});
  }
  for (const SettingNotInPlan& one : report.not_read) {
    json["not_read"].push_back({{"name", one.name},
                                {"value", one.value},
                                {"file", one.file},
                                {"line", line_json(one.line)},
                                {"matters", name_of(kSettingImpactNames, one.matters)},
                                {"why", one.why}});
  }
  return json;
}

}  // namespace stepwright::framework_files
