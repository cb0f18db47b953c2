// Alignments: from attention, symmetrised, as text, and their error rate, beside values worked out by hand.
// tests/align/second.py does the same with random cases.
#include <filesystem>
#include <string>

#include <bahdanau/align/error_rate.hpp>
#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/align/symmetrize.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau;
using bahdanau::test::put;
using bahdanau::test::TemporaryDirectory;
using Catch::Matchers::Message;

namespace {

Alignment parsed(const std::string& line) { return parse_pharaoh("line", line); }

/// "a b <eos>" to "x y z <eos>".
Translation example() {
  Translation translation;
  translation.source = {"a", "b", "<eos>"};
  translation.target = {"x", "y", "z", "<eos>"};
  translation.attention = {{0.6F, 0.3F, 0.1F}, {0.0F, 0.25F, 0.75F}, {0.4F, 0.4F, 0.2F}, {0.2F, 0.7F, 0.1F}};
  return translation;
}

std::string symmetrized(const char* forward, const char* backward, Symmetrization how) {
  return pharaoh_text(symmetrize(parsed(forward), parsed(backward), how));
}

}  // namespace

TEST_CASE("each target word is linked to the source word it attends to most, <eos> to none",
          "[align][attention]") {
  // y attends most to <eos>, which is no word; z to both words alike, of which the first counts.
  CHECK(pharaoh_text(argmax_alignment(example())) == "0-0 0-2 1-1");
  Translation cut = example();  // by the length limit: its last token is a word
  cut.target.back() = "w";
  CHECK(pharaoh_text(argmax_alignment(cut)) == "0-0 0-2 1-1 1-3");
  Translation nothing = example();
  nothing.attention.fill(0);
  CHECK(argmax_alignment(nothing).empty());
}

TEST_CASE("a threshold links all words with as much weight", "[align][attention]") {
  CHECK(pharaoh_text(threshold_alignment(example(), 0.3F)) == "0-0 0-2 1-0 1-2");
  CHECK(pharaoh_text(threshold_alignment(example(), 0.25)) == "0-0 0-2 1-0 1-1 1-2");
  CHECK(threshold_alignment(example(), 1).empty());
}

TEST_CASE("attention that says nothing of words gives no alignment but an error", "[align][error]") {
  Translation none = example();
  none.attention = Array<float, 2>::from_shape({4, 0});
  CHECK_THROWS_MATCHES(
      argmax_alignment(none), Error,
      Message("argmax_alignment: expected attention, got none; the translation is of a model "
              "that does not attend"));
  Translation keys = example();
  keys.attention = Array<float, 2>::from_shape({4, 2});
  CHECK_THROWS_MATCHES(
      threshold_alignment(keys, 0.5), Error,
      Message("threshold_alignment: expected attention [4, 3] as there are target and source tokens, got [4, "
              "2]; of an encoder with more or fewer keys than tokens there is no alignment"));
  for (const double threshold : {0.0, -1.0, 1.5, std::nan("")})
    CHECK_THROWS_AS(threshold_alignment(example(), threshold), Error);
}

TEST_CASE("a link is kept once, in order, and sure if it ever was", "[align]") {
  const Alignment links{{2, 0}, {0, 1, false}, {0, 1}, {0, 1, false}, {1, 0, false}};
  CHECK(pharaoh_text(links) == "0-1 1?0 2-0");
  CHECK(links.has(1, 0));
  CHECK_FALSE(links.has_sure(1, 0));
  CHECK(links.has_sure(0, 1));
  CHECK_FALSE(links.has(0, 2));
  CHECK(pharaoh_text(links.transposed()) == "0?1 0-2 1-0");
  CHECK(links.transposed().transposed() == links);
}

TEST_CASE("two directions meet in their intersection, and grow towards their union", "[align][symmetrize]") {
  // Both have 0-0. 1-1 touches it, and so does 2-2 once 1-1 is there; 4-4 and 5-1 touch nothing.
  const char *forward = "0-0 1-1 4-4 5-1", *backward = "0-0 2-2 3-4";
  CHECK(symmetrized(forward, backward, Symmetrization::intersection) == "0-0");
  CHECK(symmetrized(forward, backward, Symmetrization::either) == "0-0 1-1 2-2 3-4 4-4 5-1");
  CHECK(symmetrized(forward, backward, Symmetrization::grow_diag) == "0-0 1-1 2-2");
  // 5-1 links source 5, which has none; 4-4 comes first and takes target 4; 3-4 still links source 3.
  CHECK(symmetrized(forward, backward, Symmetrization::grow_diag_final) == "0-0 1-1 2-2 3-4 4-4 5-1");
  // Both words of a link must be free: 4-4 is, then 3-4 is not, nor is 5-1.
  CHECK(symmetrized(forward, backward, Symmetrization::grow_diag_final_and) == "0-0 1-1 2-2 4-4");
  // A neighbour whose words both have links is left out: 0-1 in a square.
  CHECK(symmetrized("0-0 1-1 0-1", "0-0 1-1", Symmetrization::grow_diag) == "0-0 1-1");
  CHECK(symmetrized("", "", Symmetrization::grow_diag_final).empty());
  CHECK(symmetrized("3-2", "", Symmetrization::grow_diag_final_and) == "3-2");
}

TEST_CASE("a line of very many links takes no time", "[align][pharaoh]") {
  std::string line;
  for (std::size_t i = 0; i < 100'000; ++i)
    line += std::to_string((i * 7919) % 100'003) + "-" + std::to_string(i % 997) + " ";
  const Alignment many = parsed(line);  // seconds, if each link were put into its place
  CHECK(many.size() == 100'000);
  CHECK(symmetrize(many, many.transposed().transposed(), Symmetrization::grow_diag_final) == many);
}

TEST_CASE("symmetrisations have the names that papers give them", "[align][symmetrize]") {
  for (const auto how : {Symmetrization::intersection, Symmetrization::either, Symmetrization::grow_diag,
                         Symmetrization::grow_diag_final, Symmetrization::grow_diag_final_and})
    CHECK(symmetrization_from_name(name(how)) == how);
  CHECK_THROWS_MATCHES(symmetrization_from_name("grow"), Error,
                       Message("symmetrization: expected one of intersection, union, grow-diag, "
                               "grow-diag-final, grow-diag-final-and, got \"grow\""));
}

TEST_CASE("Pharaoh's format is read and written", "[align][pharaoh]") {
  CHECK(pharaoh_text(parsed("  2-1\t0-0 10?3 4p0 ")) == "0-0 2-1 4?0 10?3");
  CHECK(parsed("").empty());
  for (const char* wrong : {"0", "0-", "-1", "0-1-2", "0+1", "a-b", "0--1", "0 - 1", "1.5-2", "0-1,1-2"})
    CHECK_THROWS_AS(parsed(wrong), Error);
  CHECK_THROWS_MATCHES(
      parsed("0-0 1=2"), Error,
      Message("line: expected links such as 0-1, or 0?1 and 0p1 for possible ones, got \"1=2\""));
  CHECK_THROWS_AS(parsed("0-1000000"), Error);
  CHECK_THROWS_AS(parsed("99999999999999999999999-0"), Error);

  const TemporaryDirectory files;
  put(files / "gold", "0-0 1?1\r\n\n2-0");
  const auto read = read_pharaoh(files / "gold");
  REQUIRE(read.size() == 3);
  CHECK(pharaoh_text(read[0]) == "0-0 1?1");
  CHECK(read[1].empty());
  CHECK(pharaoh_text(read[2]) == "2-0");
  put(files / "bad", "0-0\n0:0\n");
  CHECK_THROWS_MATCHES(
      read_pharaoh(files / "bad"), Error,
      Message((files / "bad").string() +
              ":2: expected links such as 0-1, or 0?1 and 0p1 for possible ones, got \"0:0\""));
  CHECK_THROWS_AS(read_pharaoh(files / "none"), Error);
  CHECK_THROWS_AS(read_pharaoh(files.path()), Error);
}

TEST_CASE("the error rate counts sure and possible links as Och and Ney do", "[align][error-rate]") {
  // A has 4 links: one sure, two possible ones, one wrong. S has 3, P these and two more.
  const Alignment gold = parsed("0-0 1-1 2-2 1?2 3?3");
  const AlignmentCounts counts = count_links(parsed("0-0 1-2 3-3 2-0"), gold);
  CHECK(counts == AlignmentCounts{4, 3, 1, 3});
  CHECK(counts.precision() == 0.75);
  CHECK(counts.recall() == Approx(1.0 / 3));
  CHECK(counts.error_rate() == Approx(1 - 4.0 / 7));

  AlignmentCounts sum = counts;
  sum += count_links(parsed("0-0"), parsed("0-0"));
  CHECK(sum.error_rate() == Approx(1 - 6.0 / 9));  // of all links, not the mean of sentences
  CHECK(count_links(gold, gold).error_rate() == 0);
  CHECK(count_links({}, {}).error_rate() == 0);
  CHECK(count_links({}, gold).precision() == 1);
  CHECK(count_links({}, gold).error_rate() == 1);
  CHECK(count_links(parsed("0-0"), {}).recall() == 1);
  CHECK(count_links(parsed("0-0"), {}).error_rate() == 1);
}
