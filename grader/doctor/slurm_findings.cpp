#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "grader/doctor/area_findings.h"

namespace roofwalk {
namespace {

using Node = Surroundings::Slurm::Node;

constexpr std::size_t kMostShownNodes = 3, kReasonColumns = 60, kCommandColumns = 55;

// Slurm's word for the state, without the sign behind it that tells more (sinfo(1), NODE STATE CODES).
std::string_view word_of(const Node& node) {
  const std::string_view state = node.state;
  return state.substr(0, state.find_first_of("*~#!%$@^+-"));
}

// An administrator, or Slurm itself, takes no more tasks there until somebody resumes the node.
bool must_be_resumed(const Node& node) {
  constexpr std::array<std::string_view, 6> kOut = {"down", "drain", "drained", "draining", "fail", "failing"};
  return std::find(kOut.begin(), kOut.end(), word_of(node)) != kOut.end();
}

// Its slurmd does not answer the controller.
bool is_silent(const Node& node) {
  return node.state.ends_with('*') || word_of(node) == "unknown" || word_of(node) == "no_respond";
}

bool is_out(const Node& node) {
  return must_be_resumed(node) || is_silent(node) || word_of(node) == "maint" || word_of(node) == "inval";
}

// A name that a shell takes as it is.
bool is_plain(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
                              std::string::npos;
}

std::string described(const std::vector<Node>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMostShownNodes); ++i) {
    const bool has_reason = !nodes[i].reason.empty() && nodes[i].reason != "none";
    text += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", nodes[i].name, nodes[i].state,
                        has_reason ? fmt::format(" ({})", shortened(nodes[i].reason, kReasonColumns)) : "");
  }
  if (nodes.size() > kMostShownNodes) text += fmt::format(" and {} more", nodes.size() - kMostShownNodes);
  return text;
}

std::string resume_command(const std::string& names) {
  return fmt::format("$ sudo scontrol update nodename={} state=resume", names);
}

void advise_to_resume(const std::vector<Node>& nodes, FindingList::Advice& advice) {
  std::string names, first;
  for (const Node& node : nodes) {
    if (!must_be_resumed(node) || !is_plain(node.name)) continue;
    if (first.empty()) first = node.name;
    names += (names.empty() ? "" : ",") + node.name;
  }
  if (first.empty()) return;
  advice.emplace_back("once the reason is gone, an administrator puts it back:");
  const bool fits = resume_command(names).size() - 2 <= kCommandColumns;
  advice.push_back(resume_command(fits ? names : first));
  if (!fits && names != first) advice.emplace_back("likewise the others, each with its reason: sinfo --list-reasons");
}

}  // namespace

std::vector<Node> slurm_nodes(const std::string& output) {
  std::vector<Node> nodes;
  std::set<std::string> seen;
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t state = line.find('|');
    const std::size_t reason = state == std::string_view::npos ? state : line.find('|', state + 1);
    if (reason == std::string_view::npos) continue;  // a warning among the lines
    Node node{std::string(line.substr(0, state)), std::string(line.substr(state + 1, reason - state - 1)),
              std::string(line.substr(reason + 1))};
    if (seen.insert(node.name).second) nodes.push_back(std::move(node));
  }
  return nodes;
}

void add_slurm(const Surroundings& around, FindingList list) {
  const auto& slurm = around.slurm;
  constexpr const char* kId = "slurm_nodes";
  constexpr const char* kTitle = "Slurm's nodes";
  if (!slurm.is_here) return;
  if (!slurm.trouble.empty()) {
    return list.not_here(kId, kTitle, "Slurm does not answer: " + slurm.trouble,
                         {"is its controller at work? that shows:", "$ scontrol ping",
                          "if not, an administrator starts it there:", "$ sudo systemctl restart slurmctld"});
  }
  std::vector<Node> out;
  std::copy_if(slurm.nodes.begin(), slurm.nodes.end(), std::back_inserter(out), is_out);
  const std::string count = fmt::format("{} of {} take tasks", slurm.nodes.size() - out.size(), slurm.nodes.size());
  if (slurm.nodes.empty())
    return list.not_here(kId, kTitle, "Slurm knows none", {"ask an administrator of the cluster"});
  if (out.empty()) return list.ok(kId, kTitle, count);
  FindingList::Advice advice;
  if (std::any_of(out.begin(), out.end(), is_silent)) {
    advice = {"a * is a node that does not answer; an administrator, there:", "$ sudo systemctl restart slurmd"};
  }
  advise_to_resume(out, advice);
  if (advice.empty())
    advice = {"an administrator of the cluster knows more; each node's reason:", "$ sinfo --list-reasons"};
  list.not_here(kId, kTitle, fmt::format("{}: {}", count, described(out)), advice);
}

}  // namespace roofwalk
