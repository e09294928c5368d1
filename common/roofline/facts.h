// Quantities derived from a DiagnosisInput, for causes to test and to claim by.
#pragma once

#include <string_view>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

// The parts of the time. The units of the machine, dram to flops, work at the same time: the slowest one counts.
// Waiting and launches come on top of it.
enum class TimePart { dram, l2, l1, shared, constant, issue, flops, waiting, launch };
inline constexpr TimePart kMachineUnits[] = {TimePart::dram,     TimePart::l2,    TimePart::l1,   TimePart::shared,
                                             TimePart::constant, TimePart::issue, TimePart::flops};
inline constexpr TimePart kMemoryLevels[] = {TimePart::dram, TimePart::l2, TimePart::l1};

double part_ns(const DiagnosisInput& input, TimePart part);

// Of a memory level.
double bytes_at(const DiagnosisInput& input, TimePart level);
// The level's time for the compulsory bytes alone.
double compulsory_ns(const DiagnosisInput& input, TimePart level);

// elapsed_ns over what the roof at the algorithm's AI allows; 1 if gaps are unknown.
double total_gap(const DiagnosisInput& input);
// Whether it leaves more to gain than the last 20 %.
bool has_gap(const DiagnosisInput& input);

// Sectors requested from L1 over those that contiguous bytes would need; 1 if unknown.
double sector_ratio(const DiagnosisInput& input);

// Average number of stores to each sector that reaches DRAM, counting scattered stores as contiguous; 0 if nothing is
// stored.
double times_stored(const DiagnosisInput& input);

// How many times the whole work is done: FLOPs and stores of results repeat; 1 if once.
double repeats_of_work(const DiagnosisInput& input);

// FLOPs of a fused multiply-add that all lanes of a warp execute.
inline constexpr double kFlopsOfFma = 64;
// The least share of the warp instructions that is arithmetic on floats; twice as many may be. 1 where unknown.
double arithmetic_share(const DiagnosisInput& input);
// Whether half of them may be.
bool is_mostly_arithmetic(const DiagnosisInput& input);

// Whether `wait`, an id of DiagnosisInput::Waiting, is a wait for global memory.
bool is_memory_wait(std::string_view wait);
// Share of the warps' cycles spent on one kind of wait.
double wait_share(const DiagnosisInput& input, std::string_view wait);
// The same of all waits together; places for warps that stand empty are left out.
double total_wait_share(const DiagnosisInput& input);

}  // namespace roofwalk
