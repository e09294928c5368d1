// Turns what nvcc and ptxas print into the few lines that a learner needs.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/subprocess.h"

namespace roofwalk {

// What __DATE__, __TIME__ and __TIMESTAMP__ stand for in a learner's file: a name that nobody declares.
inline constexpr std::string_view kTimeOfCompiling = "roofwalk_time_of_compiling";

// `source_path` is the file's name as the learner knows it; `source_text` its text. The run has failed.
Error explain_nvcc(const CommandResult& run, const std::string& source_path, std::string_view source_text,
                   double timeout_s);

// The same for ptxas over PTX that nvcc accepted: what is wrong comes from inline assembly or from limits.
Error explain_ptxas(const CommandResult& run, const std::string& source_path, std::string_view ptx, double timeout_s);

// The name of a kernel as its author wrote it, without the parameter list: "scale<128>" for _Z5scaleILi128EEvPf.
std::string written_name(const std::string& mangled);

}  // namespace roofwalk
