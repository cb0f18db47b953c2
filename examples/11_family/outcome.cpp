// Outcomes as small text files, so that a long comparison that was interrupted goes on where it was.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/atomic_file.hpp>

#include "family.hpp"

namespace family {
namespace {

void write_list(std::ostream& out, const char* name, const std::vector<double>& values) {
  out << name << ' ' << values.size();
  for (const double value : values) out << ' ' << value;
  out << '\n';
}

std::vector<double> read_list(std::istream& in, std::string& word) {
  std::size_t size = 0;
  in >> word >> size;
  std::vector<double> values;
  for (double value = 0; values.size() < size && in >> value;) values.push_back(value);
  return values;
}

}  // namespace

std::string Plan::settings() const {
  std::ostringstream out;
  out << training.size() << " pairs, " << held_out.size() << " held out, max_length " << max_length
      << ", budget " << budget << ", " << epochs << " epochs, rate " << rate << ", seed " << seed;
  return out.str();
}

void write_outcome(const std::filesystem::path& path, const std::string& settings, const Outcome& outcome) {
  std::ostringstream out;
  out.precision(9);
  out << settings << "\nembed " << outcome.embed << "\nhidden " << outcome.hidden << "\nparameters "
      << outcome.parameters << "\ntokens_per_second " << outcome.tokens_per_second << "\nbleu "
      << outcome.bleu << '\n';
  write_list(out, "loss", outcome.loss);
  write_list(out, "bleu_by_length", outcome.bleu_by_length);
  bd::write_atomically(path, out.str());
}

Outcome read_outcome(const std::filesystem::path& path, const std::string& settings) {
  std::ifstream in(path);
  std::string first, word;
  std::getline(in, first);
  if (first != settings)
    bd::fail(path.string(), bd::detail::quote(settings), bd::detail::quote(first),
             "remove it, or use another folder");
  Outcome outcome;
  in >> word >> outcome.embed >> word >> outcome.hidden >> word >> outcome.parameters >> word >>
      outcome.tokens_per_second >> word >> outcome.bleu;
  outcome.loss = read_list(in, word);
  outcome.bleu_by_length = read_list(in, word);
  if (!in) bd::fail(path.string(), "a whole outcome", "a part of one", "remove it");
  return outcome;
}

}  // namespace family
