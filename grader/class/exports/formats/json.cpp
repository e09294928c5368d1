// The gradebook as JSON (`roofwalk.gradebook/1`, grader/class/batch/gradebook.h).
#include "common/base/json.h"
#include "grader/class/exports/exporter.h"

namespace roofwalk {
namespace {

std::string to_json_text(const Gradebook& book) { return json_text(to_json(book)) + "\n"; }

}  // namespace

extern const Exporter json_exporter{"json", "gradebook.json", to_json_text};

}  // namespace roofwalk
