// Quantities derived from a DiagnosisInput, for the tests and claims of causes.
#pragma once

#include <string_view>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

// The parts of the time. The machine's units, dram to contention, work concurrently, so only the slowest one counts;
// waiting and launch times are added to it. contention: L2, as it makes the atomics on the most contended word or
// sector.
enum class TimePart { dram, l2, l1, shared, constant, issue, flops, contention, waiting, launch };
inline constexpr TimePart kMachineUnits[] = {TimePart::dram,   TimePart::l2,        TimePart::l1,
                                             TimePart::shared, TimePart::constant,  TimePart::issue,
                                             TimePart::flops,  TimePart::contention};
inline constexpr TimePart kMemoryLevels[] = {TimePart::dram, TimePart::l2, TimePart::l1};

double part_ns(const DiagnosisInput& input, TimePart part);

// Returns the bytes that a memory level moves.
double bytes_at(const DiagnosisInput& input, TimePart level);
// Returns the level's time for the compulsory bytes alone.
double compulsory_ns(const DiagnosisInput& input, TimePart level);

// Returns elapsed_ns over the time that the roof at the algorithm's AI allows; 1 if gaps are unknown.
double total_gap(const DiagnosisInput& input);
// Whether the total gap leaves more than 20 % of the time to gain.
bool has_gap(const DiagnosisInput& input);

// Returns the sectors requested from L1 over those that contiguous bytes would need; 1 if unknown.
double sector_ratio(const DiagnosisInput& input);

// Returns the part of the bank conflicts that are arrivals at barrier objects, where a warp's threads take turns.
double arrival_conflicts(const DiagnosisInput& input);
// Returns the other part, of accesses to arrays.
double array_conflicts(const DiagnosisInput& input);
// From this share of all shared-memory wavefronts on, such conflicts cost something.
inline constexpr double kConflictShare = 0.25;

// Returns the average number of stores to each sector that reaches DRAM, counting scattered stores as contiguous; 0 if
// nothing is stored.
double times_stored(const DiagnosisInput& input);

// Returns how many times the whole work is done, judged by repeated FLOPs and repeated stores of results; 1 if once.
double repeats_of_work(const DiagnosisInput& input);

// FLOPs of a fused multiply-add that all lanes of a warp execute.
inline constexpr double kFlopsOfFma = 64;
// Returns a lower bound for the share of floating-point arithmetic in the warp instructions, which takes all FLOPs for
// FMAs of two FLOPs. If they were additions and products of one FLOP, the share would be twice that. 1 if unknown.
double arithmetic_share(const DiagnosisInput& input);
// Whether the upper bound, twice arithmetic_share(), is at least half.
bool is_mostly_arithmetic(const DiagnosisInput& input);

// Whether `wait`, an id of DiagnosisInput::Waiting, is a wait for global memory.
bool is_memory_wait(std::string_view wait);
// Returns the share of the warps' cycles spent on one kind of wait.
double wait_share(const DiagnosisInput& input, std::string_view wait);
// Returns the sum over all waits except "tail", which stands for empty warp slots.
double total_wait_share(const DiagnosisInput& input);

}  // namespace roofwalk
