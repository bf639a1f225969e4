// Writes an explanation as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/explain/explain.h"

namespace tessera::lab {
namespace {

// Returns "1,048,576"; a number that is not whole has three digits.
std::string grouped(double value) {
  if (value != std::floor(value)) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(at, ",");
  }
  return digits;
}

std::string short_number(double value) {
  return fmt::format("{:g}", std::round(value * 100) / 100);
}

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

// Breaks text into lines of at most 98 columns. All but the first begin with `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent = 0) {
  constexpr std::size_t kWidth = 98;
  std::string out, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth - indent) {
      out += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out + line + "\n";
}

std::string heading(const Explanation& e) {
  const Problem& p = e.problem;
  std::string text = fmt::format("{} ({}), {} x {} x {}, {} {} {}; rates of {}, code of {}",
                                 e.kernel, e.config, p.m, p.n, p.k, name_of(p.types), layout_of(p),
                                 name_of(p.order), e.gpu.name, e.code_arch);
  if (e.ran < e.ctas) {
    text += fmt::format("; a sample of {} of {} blocks, scaled up", grouped(double(e.ran)),
                        grouped(double(e.ctas)));
  }
  return text + "\n";
}

// Returns the text for a kernel of the ladder that is another one's machine code in a new order.
std::string counted_as_text(const Explanation& e) {
  if (e.counted_as.empty()) return "";
  const auto number = [](const std::string& name) { return name.substr(0, name.find('_')); };
  return wrapped(fmt::format(
             "No counts of its own: {0} is the machine code of {1} in another order, and the "
             "virtual GPU runs PTX. All that follows is counted on the PTX of {1}, as in 'tessera "
             "explain {3}', and timed with its unpatched cubin. 'tessera sass {2}' shows "
             "the patched code, 'tessera sass --diff {3} {2}' what differs.",
             e.kernel, e.counted_as, number(e.kernel), number(e.counted_as))) +
         "\n";
}

std::string resources_text(const Explanation& e) {
  Table table{{"what alone would take", "ms", "of the bound", "amount", ""}, {}};
  const double bound = e.evidence.resources.empty() ? 1 : e.evidence.resources.front().ms;
  for (const ResourceUse& use : e.evidence.resources) {
    table.rows.push_back({use.name, fmt::format("{:.4g}", use.ms), percent(use.ms / bound),
                          grouped(use.amount), use.unit});
  }
  const Wavefronts& t = e.evidence.totals.wavefronts;
  return render(table, Format::kText) +
         wrapped(fmt::format(
             "Wavefronts: {} bank conflicts, {} other shared wavefronts, {} of scattered "
             "and {} of other global accesses (model: one per clock and SM, bank "
             "rule '{}').",
             grouped(std::round(t.conflicts)), grouped(std::round(t.shared)),
             grouped(std::round(t.scattered)), grouped(std::round(t.global)), kBankModel));
}

// Returns the TFLOP/s for which device memory delivers enough words at this intensity (FLOP per
// byte), and their share of the peak.
std::string allowed(const Explanation& e, double intensity) {
  const double tflops = e.gpu.memory_gbs * intensity * 1e-3;
  return fmt::format("{:.3g} TFLOP/s ({} of {})", tflops, percent(tflops / e.peak_tflops),
                     short_number(e.peak_tflops));
}

std::string bandwidth_text(const Explanation& e) {
  if (e.peak_tflops == 0) return "";
  return fmt::format(
      "Bandwidth x intensity: at {} GB/s device memory allows {} as requested, {} by footprint.",
      short_number(e.gpu.memory_gbs), allowed(e, e.intensities.requested),
      allowed(e, e.intensities.footprint));
}

std::string formulas_text(const Explanation& e) {
  Table table{{"words", "formula", "by formula", "counted", ""}, {}};
  for (const FormulaCheck& check : e.formulas) {
    table.rows.push_back({check.what, check.formula, grouped(check.expected),
                          grouped(check.counted), check.equal() ? "equal" : check.note});
  }
  std::string text = render(table, Format::kText);
  const Intensities& i = e.intensities;
  text += wrapped(fmt::format(
      "FLOP/byte of global memory: {} requested, {} by sectors (no cache), {} by footprint (a "
      "perfect cache); at most {}, with each operand read once and reads alone, K(M + N) words.{}",
      short_number(i.requested), short_number(i.sector), short_number(i.footprint),
      short_number(i.once),
      e.reads_per_shared_word > 0
          ? fmt::format(" Reads of each shared word: {}.", short_number(e.reads_per_shared_word))
          : ""));
  return text + wrapped(bandwidth_text(e));
}

std::string sectors_cell(const Site& site) {
  const vgpu::GlobalCounts& global = site.memory.global;
  return global.requests ? short_number(global.sectors_per_request()) : "-";
}

std::string wavefronts_cell(const Site& site) {
  const vgpu::SharedCounts& shared = site.memory.shared;
  if (shared.requests == 0) return "-";
  return short_number(static_cast<double>(banks_of(shared).wavefronts) /
                      static_cast<double>(shared.requests));
}

std::string excess_cell(const Site& site) {
  return site.memory.shared.requests ? grouped(double(banks_of(site.memory.shared).excess())) : "-";
}

std::string share_cell(const Explanation& e, const Site& site) {
  const ResourceUse& top = e.evidence.resources.front();
  return percent(use_of(site, top.resource) / use_of_all(e.evidence.totals, top));
}

std::string what_cell(const Site& site) {
  if (site.forms > 1) {
    return fmt::format("{} instructions of the PTX, most often {}", site.instructions, site.form);
  }
  return fmt::format(
      "{}{}{}", site.form, site.touches.empty() ? "" : " of " + site.touches,
      site.instructions > 1 ? fmt::format(" ({} in the PTX)", site.instructions) : "");
}

std::string sites_text(const Explanation& e, int lines) {
  if (e.costly.empty()) return "";
  const std::string& top = e.evidence.resources.front().name;
  std::string text = fmt::format("{:>7} {:>14} {:>9} {:>11} {:>14}  lines that cost most ({})\n",
                                 "share", "executions", "sectors", "wavefronts", "excess", top);
  for (const Site& site : e.costly) {
    if (lines-- == 0) break;
    text += fmt::format("{:>7} {:>14} {:>9} {:>11} {:>14}  {}\n", share_cell(e, site),
                        grouped(double(site.warp)), sectors_cell(site), wavefronts_cell(site),
                        excess_cell(site), what_cell(site));
    text += fmt::format("        {}{}\n", site.place(),
                        site.via.empty() ? "" : " (inlined from " + site.via + ")");
    if (!site.text.empty()) text += fmt::format("        | {}\n", site.text);
  }
  return text +
         "Sectors per request, wavefronts per access; excess: wavefronts that conflicts add.\n";
}

// Returns "That is 5.0 times the bound. The rest: 0.0041 ms launching, ...".
std::string rest_text(const Explanation& e) {
  if (e.rest.empty()) return "";
  const double times = e.prediction->time_ms / e.evidence.resources.front().ms;
  std::string text =
      fmt::format("That is {} times the bound ({}). The rest, by the model:",
                  times < 10 ? fmt::format("{:.2g}", times) : grouped(std::round(times)),
                  e.evidence.resources.front().name);
  for (const UnitTime& part : e.rest) {
    text += fmt::format("{} {:.3g} ms {}", &part == &e.rest.front() ? "" : ",", part.ms, part.name);
  }
  return wrapped(text + ".");
}

std::string prediction_text(const Explanation& e) {
  if (!e.prediction) return wrapped(fmt::format("Not predicted: {}.", e.not_predicted));
  const Problem& p = e.problem;
  const double flop =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return wrapped(fmt::format("Predicted: {:.4g} ms, {:.3g} TFLOP/s (model: {}).",
                             e.prediction->time_ms, flop / (e.prediction->time_ms * 1e9),
                             e.prediction->model)) +
         rest_text(e);
}

std::string placement_text(const Explanation& e) {
  const Placement& r = e.evidence.placement;
  std::string text = fmt::format(
      "{} threads per block, {} registers per thread, {} shared bytes per "
      "block",
      r.threads, r.registers, grouped(double(r.shared_bytes)));
  if (r.local_bytes > 0) text += fmt::format(", {} stack bytes per thread", r.local_bytes);
  if (r.ctas > 0) {
    text += fmt::format(": {} block{} ({} of {} warps) on an SM, limited by {}", r.ctas,
                        r.ctas == 1 ? "" : "s", r.warps, r.max_warps, r.limited_by);
  }
  text += fmt::format(". {} block{} for {} SMs", grouped(double(r.grid)), r.grid == 1 ? "" : "s",
                      r.sms);
  if (r.ctas > 0 && r.grid < static_cast<std::uint64_t>(r.ctas) * r.sms) {
    text += ": too few to fill the GPU; the times above are those of a full one";
  }
  return wrapped(text + ".");
}

std::string tags_text(const Explanation& e) {
  std::string text = fmt::format(
      "Tags: instructions and sectors {}; wavefronts model (bank rule "
      "'{}'); times model (rates of {}, all SMs busy).",
      e.ran < e.ctas ? "model (sampled)" : e.counts.tag, kBankModel, e.gpu.name);
  for (const std::string& difference : e.counts.cubin_differences) text += " " + difference + ".";
  return wrapped(text);
}

std::string advice_text(const Explanation& e) {
  std::string text = e.advice.empty() ? "" : "\nWhat to do:\n";
  int number = 0;
  for (const Advice& advice : e.advice) {
    std::string seen = advice.sentence;
    const bool is_said = e.verdict.find(seen.substr(0, seen.size() - 1)) != std::string::npos;
    seen[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(seen[0])));
    text +=
        fmt::format("{}. {}", ++number, wrapped((is_said ? "" : seen + " ") + advice.remedy, 3));
  }
  return text;
}

}  // namespace

std::string render_launch(const Explanation& e, int lines) {
  const std::string predicted =
      e.prediction ? fmt::format("Predicted: {:.4g} ms, launch included (model: {}).",
                                 e.prediction->time_ms, e.prediction->model)
                   : fmt::format("Not predicted: {}.", e.not_predicted);
  return wrapped(e.verdict) + "\n" + resources_text(e) + wrapped(predicted) + rest_text(e) + "\n" +
         sites_text(e, lines) + "\n" + placement_text(e) + advice_text(e) + "\n" +
         wrapped(fmt::format("Tags: instructions and sectors exact, of the PTX; wavefronts model "
                             "(bank rule '{}'); times model (rates of {}, all SMs busy).",
                             kBankModel, e.gpu.name));
}

std::string render(const Explanation& e, int lines) {
  std::string text = heading(e) + "\n" + counted_as_text(e) + wrapped(e.verdict) + "\n";
  text += resources_text(e) + prediction_text(e) + "\n" + sites_text(e, lines) + "\n" +
          formulas_text(e) + "\n";
  text += placement_text(e);
  text += advice_text(e);
  return text + "\n" + tags_text(e);
}

Table lines_table(const Explanation& e) {
  Table table{{"kernel", "share", "place", "instruction", "executions", "sectors/request",
               "wavefronts/access", "excess", "inlined from", "text"},
              {}};
  for (const Site& site : e.costly) {
    table.rows.push_back({e.kernel, share_cell(e, site), site.place(), what_cell(site),
                          std::to_string(site.warp), sectors_cell(site), wavefronts_cell(site),
                          excess_cell(site), site.via, site.text});
  }
  return table;
}

}  // namespace tessera::lab
