// Kernels that differ in their bodies, and what the sanitizer says of each. They have one argument, `c`: 128 floats, 1.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "common/base/json.h"
#include "common/record/run_record.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

// `// @` marks the faulty line, if any; `kind` and `says` are what its fault is and contains.
struct JudgedBody {
  const char* name;
  const char* body;
  FaultKind kind = FaultKind::race;
  const char* says = "";
};
inline void PrintTo(const JudgedBody& body, std::ostream* out) { *out << body.name; }

// Returns the kernel with this body behind `head`, which begins it, run with 64 threads and two blocks.
inline std::string judged_text(const std::string& head, const char* body) {
  return head + body + "}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}

// The same, where the body has `float s[256]` in shared memory and the thread's index `t`.
inline std::string block_text(const char* body) {
  return judged_text(
      "#include <cuda_pipeline.h>\n#include <roofwalk.cuh>\n"
      "__global__ void k(float* c) { __shared__ float s[256];\n  const int t = threadIdx.x;",
      body);
}

// The line of the mark `// @`; 0 if there is none.
inline int line_of_mark(const std::string& text) {
  const std::size_t mark = text.find("// @");
  if (mark == std::string::npos) return 0;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
}

inline RunRecord run_judged(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(128, 1.0f)};
  RunOptions limited = options;
  limited.max_work = 50'000'000;
  auto record = Runner().run(text, {&c}, limited);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

inline void expect_fault(const std::string& text, const JudgedBody& body) {
  const RunRecord record = run_judged(text, kSanitized);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, body.kind) << record.fault->message;
  EXPECT_THAT(record.fault->message, testing::HasSubstr(body.says));
  if (const int line = line_of_mark(text); line != 0) {
    EXPECT_EQ(record.fault->line, line) << record.fault->message;
  }
}

// The sanitizer finds nothing and changes nothing.
inline void expect_no_fault(const std::string& text) {
  const RunRecord sanitized = run_judged(text, kSanitized), plain = run_judged(text, {});
  ASSERT_FALSE(sanitized.fault.has_value()) << sanitized.fault->line << ": " << sanitized.fault->message;
  ASSERT_FALSE(plain.fault.has_value()) << plain.fault->message;
  EXPECT_EQ(to_json(sanitized), to_json(plain));
}

}  // namespace roofwalk::test
