#include "common/build/ptx_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "common/build/diagnostics.h"
#include "common/build/ptx_lines.h"
#include "common/ptx/lexer.h"
#include "common/ptx/module.h"

namespace roofwalk {
namespace {

// One function, variable or section of a module's text.
struct Part {
  std::size_t begin = 0, end = 0;  // byte range in the text
  bool is_entry = false, is_function = false, is_extern = false;
  std::string_view name = {};                // of a function
  std::set<std::string_view> mentions = {};  // all words in it
};

constexpr std::array<std::string_view, 12> kOpeners{".extern", ".visible", ".weak",   ".common", ".func",    ".entry",
                                                    ".global", ".const",   ".shared", ".alias",  ".section", ".tex"};

bool opens_part(const ptx::Token& token) {
  return token.kind == ptx::Token::Kind::dotted &&
         std::find(kOpeners.begin(), kOpeners.end(), token.text) != kOpeners.end();
}

bool is_of_the_plan(std::string_view name) { return name.starts_with("__cudaCDP2") || name == "roofwalk_scratch"; }

// Splits a module into parts. Text between them (.version, .file) does not belong to any part. Throws ptx::Refusal, as
// the lexer does.
std::vector<Part> parts_of(std::string_view text) {
  ptx::Lexer lexer(text, ptx::Limits{}.tokens);
  std::vector<Part> parts;
  bool open = false, is_section = false;
  int depth = 0;  // of all kinds of brackets
  for (ptx::Token token = lexer.next(); token.kind != ptx::Token::Kind::end; token = lexer.next()) {
    const auto at = static_cast<std::size_t>(token.text.data() - text.data());
    if (!open) {
      if (!opens_part(token)) continue;
      parts.push_back({.begin = at});
      open = true;
      is_section = token.is(".section");
    }
    Part& part = parts.back();
    if (token.is(".entry")) part.is_entry = part.is_function = true;
    if (token.is(".func")) part.is_function = true;
    if (token.is(".extern")) part.is_extern = true;
    if (token.kind == ptx::Token::Kind::word) {
      if (part.is_function && part.name.empty() && depth == 0) {
        part.name = token.text;
      } else {
        part.mentions.insert(token.text);
      }
    }
    const bool closes = token.is(')') || token.is(']') || token.is('}');
    if (token.is('(') || token.is('[') || token.is('{')) ++depth;
    if (closes) --depth;
    const bool ends = depth <= 0 && (token.is(';') || (token.is('}') && (part.is_function || is_section)));
    if (!ends) continue;
    part.end = at + token.text.size();
    open = false;
    depth = 0;
  }
  if (open) parts.back().end = text.size();
  return parts;
}

// Returns the names of the functions to cut: the plan's functions, and all functions that call one of them, directly or
// through others.
std::set<std::string_view> names_to_cut(const std::vector<Part>& parts) {
  std::set<std::string_view> names{"solve"};
  for (const Part& part : parts) {
    if (part.is_extern && part.is_function && is_of_the_plan(part.name)) names.insert(part.name);
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (const Part& part : parts) {
      if (!part.is_function || part.is_entry || names.contains(part.name)) continue;
      const bool calls = std::any_of(part.mentions.begin(), part.mentions.end(),
                                     [&](std::string_view word) { return names.contains(word); });
      if (calls) grows = names.insert(part.name).second || grows;
    }
  }
  return names;
}

Status check_rest(const Artifact& artifact, const Part& part, const std::set<std::string_view>& cut) {
  for (const std::string_view word : part.mentions) {
    if (!cut.contains(word)) continue;
    if (!part.is_function) {
      return Error{.message = fmt::format("a table in device memory holds `{}`, which only SOLVE may call",
                                          written_name(std::string(word))),
                   .file = artifact.source_path};
    }
    return Error{
        .message = fmt::format("kernel {} plans: it launches kernels, copies, or asks for scratch memory, which only "
                               "SOLVE may do",
                               written_name(std::string(part.name))),
        .file = artifact.source_path,
        .line = source_line_of_kernel(artifact.ptx, part.name),
        .advice = "move it into SOLVE"};
  }
  return kOk;
}

}  // namespace

Result<std::string> cut_plan(const Artifact& artifact) {
  std::vector<Part> parts;
  try {
    parts = parts_of(artifact.ptx);
  } catch (const ptx::Refusal& refusal) {
    return Error{.message = fmt::format("PTX line {}: {}", refusal.ptx_line, refusal.message),
                 .file = artifact.source_path,
                 .line = source_line_of_ptx_line(artifact.ptx, refusal.ptx_line),
                 .advice = refusal.advice};
  }
  const std::set<std::string_view> cut = names_to_cut(parts);
  std::string rest;
  rest.reserve(artifact.ptx.size());
  std::size_t kept = 0;
  for (const Part& part : parts) {
    if (!part.is_function || !cut.contains(part.name)) {
      ROOFWALK_TRY_STATUS(check_rest(artifact, part, cut));
      continue;
    }
    rest.append(artifact.ptx, kept, part.begin - kept);
    const std::string_view gone = std::string_view(artifact.ptx).substr(part.begin, part.end - part.begin);
    rest.append(static_cast<std::size_t>(std::count(gone.begin(), gone.end(), '\n')), '\n');
    kept = part.end;
  }
  rest.append(artifact.ptx, kept);
  return rest;
}

}  // namespace roofwalk
