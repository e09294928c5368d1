// Reduces the output of nvcc and ptxas to the few lines that a learner needs.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/subprocess.h"

namespace roofwalk {

// The undeclared name that replaces __DATE__, __TIME__ and __TIMESTAMP__ in a learner's file.
inline constexpr std::string_view kTimeOfCompiling = "roofwalk_time_of_compiling";

// Explains why nvcc failed. `source_path` is the file's name as the learner knows it, `source_text` its text. The run
// must have failed.
Error explain_nvcc(const CommandResult& run, const std::string& source_path, std::string_view source_text,
                   double timeout_s);

// Explains why ptxas failed on PTX that nvcc made: because of inline assembly, which nvcc does not check, or of a limit
// (of the chip, or on ptxas' time and memory). The run must have failed.
Error explain_ptxas(const CommandResult& run, const std::string& source_path, std::string_view ptx, double timeout_s);

// Returns a kernel's name as in the source, without the parameter list: "scale<128>" for _Z5scaleILi128EEvPf.
std::string written_name(const std::string& mangled);

}  // namespace roofwalk
