// A model's weights for inference alone: packed where products want them so, else as they lie, and not both.
// Made once and never changed, so that threads read them without a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/weight_matrix.hpp>
#include <bahdanau/backend/packed_products.hpp>
#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// Which weights a pass multiplies with, and which it reads as they lie: what they are frozen for. Only the
/// pass that is traced knows, as policies may be anybody's.
template <Backend B>
class WeightTrace {
 public:
  using Scalar = typename B::Scalar;
  /// x W'ᵀ, where W' [n, k] begins at an element of the weights.
  struct Product {
    std::size_t offset, k, n, stride;
    friend bool operator==(const Product&, const Product&) = default;
  };

  explicit WeightTrace(const Scalar* weights) : weights_(weights) {}

  void multiply(const WeightMatrix<B>& w) {
    const auto offset = static_cast<std::size_t>(w.data - weights_);
    if (w.op == Transpose::no) return read({offset, {1}});
    const Product product{offset, w.k, w.n, w.stride};
    if (std::find(products_.begin(), products_.end(), product) == products_.end())
      products_.push_back(product);
  }
  void read(const Parameter& p) { read_.push_back(p.offset); }

  std::span<const Product> products() const { return products_; }
  /// Whether an element of these was read as it lies.
  bool reads(std::size_t offset, std::size_t size) const {
    return std::any_of(read_.begin(), read_.end(),
                       [&](std::size_t at) { return at >= offset && at < offset + size; });
  }

 private:
  const Scalar* weights_;
  std::vector<Product> products_;
  std::vector<std::size_t> read_;
};

/// The weights of one model, each in the form that it is used in.
template <Backend B>
class FrozenWeights {
 public:
  using Scalar = typename B::Scalar;
  using Product = typename WeightTrace<B>::Product;

  /// Lays out the parameters for the products of a trace; `fill` gives their numbers.
  FrozenWeights(std::span<const Parameter> parameters, const WeightTrace<B>& trace) {
    std::size_t packed = 0, plain = 0;
    for (const Parameter& declared : parameters) {
      const Parameter p = as_matrix(declared);
      Entry& entry = entries_.emplace_back(p);
      entry.packed = packed;
      for (const Product& product : trace.products()) {
        if (!packs(product, p)) continue;
        entry.forms.push_back({product.offset - p.offset, product.k, product.n, product.stride, packed});
        packed += detail::whole_lines<Scalar>(detail::PackedProducts<B>::size(product.k, product.n));
      }
      if (!covers(entry) || trace.reads(p.offset, p.shape.size())) {
        entry.plain_at = plain;
        plain += detail::whole_lines<Scalar>(p.shape.size());
      } else {
        entry.plain_at = Entry::none;
      }
    }
    packed_ = Numbers(packed);
    plain_ = Numbers(plain);
    for (Entry& entry : entries_)
      if (entry.plain_at != Entry::none) entry.plain = plain_.data() + entry.plain_at;
  }
  FrozenWeights(const FrozenWeights&) = delete;
  FrozenWeights& operator=(const FrozenWeights&) = delete;

  /// A piece of the work of `fill`: some rows of a parameter. Pieces may be filled side by side.
  struct Piece {
    std::size_t parameter, first_row, rows;
  };
  /// All of it, in pieces that fit into a cache, so that what was just read is packed from there.
  std::vector<Piece> pieces() const {
    constexpr std::size_t elements = std::size_t{1} << 16;
    std::vector<Piece> out;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const Parameter& p = entries_[e].parameter;
      const std::size_t rows = p.shape.rows(), cols = std::max<std::size_t>(p.shape.cols(), 1);
      std::size_t unit = 1;  // panels are filled as a whole
      if (!entries_[e].forms.empty()) unit = detail::PackedProducts<B>::columns();
      const std::size_t step = std::max(unit, elements / cols / unit * unit);
      for (std::size_t first = 0; first < rows; first += step)
        out.push_back({e, first, std::min(step, rows - first)});
    }
    return out;
  }
  /// The place of a piece in a block that is laid out as the parameters are.
  std::size_t offset(const Piece& piece) const {
    const Parameter& p = entries_[piece.parameter].parameter;
    return p.offset + piece.first_row * p.shape.cols();
  }
  std::size_t size(const Piece& piece) const {
    return piece.rows * entries_[piece.parameter].parameter.shape.cols();
  }
  /// Takes the numbers of a piece, which are on the device.
  void fill(const Piece& piece, const Scalar* numbers) {
    Entry& entry = entries_[piece.parameter];
    const std::size_t cols = entry.parameter.shape.cols();
    if (entry.plain_at != Entry::none)
      B::copy(numbers, piece.rows * cols, plain_.data() + entry.plain_at + piece.first_row * cols);
    for (const Form& form : entry.forms) {
      const std::size_t first = form.row(), column = form.column();
      const std::size_t begin = std::max(first, piece.first_row),
                        end = std::min(first + form.n, piece.first_row + piece.rows);
      if (begin >= end) continue;
      detail::PackedProducts<B>::pack(Transpose::yes, form.k, end - begin,
                                      numbers + (begin - piece.first_row) * cols + column, form.stride,
                                      packed_.data() + form.at + (begin - first) * form.k);
    }
  }

  /// A parameter as it lies. Where the trace has not seen that it is read so, it is unpacked, once.
  const Scalar* plain(const Parameter& p) const {
    const Entry& entry = find(p.offset);
    const Scalar* numbers = entry.plain.load(std::memory_order_acquire);
    return (numbers != nullptr ? numbers : unpack(entry)) + (p.offset - entry.parameter.offset);
  }
  /// What stands for a parameter in products: its numbers, or where its packed forms begin.
  const Scalar* handle(const Parameter& p) const {
    const Entry& entry = find(p.offset);
    return begin_of(entry) + (p.offset - entry.parameter.offset);
  }

  /// The packed form of some of the weights, or null if they are multiplied as they lie.
  const Scalar* packed(const WeightMatrix<B>& w) const {
    const auto [entry, offset] = find(w.data);
    if (entry == nullptr || w.op == Transpose::no) return nullptr;
    for (const Form& form : entry->forms)
      if (form.offset == offset && form.k == w.k && form.n == w.n && form.stride == w.stride)
        return packed_.data() + form.at;
    return nullptr;
  }
  /// The same weights where they can be read.
  WeightMatrix<B> readable(WeightMatrix<B> w) const {
    if (const auto [entry, offset] = find(w.data); entry != nullptr)
      w.data = plain({entry->parameter.offset + offset, {1}});
    return w;
  }

  /// Of all numbers.
  std::size_t bytes() const { return (packed_.size() + plain_.size()) * sizeof(Scalar); }

 private:
  using Numbers = typename B::template Storage<Scalar>;

  struct Form {
    std::size_t offset, k, n, stride;  // of the product, from the parameter's first element on
    std::size_t at;                    // in `packed_`

    std::size_t row() const { return offset / stride; }
    std::size_t column() const { return offset % stride; }
    bool overlaps(const Form& o) const {
      return row() < o.row() + o.n && o.row() < row() + n && column() < o.column() + o.k &&
             o.column() < column() + k;
    }
  };
  struct Entry {
    static constexpr std::size_t none = ~std::size_t{0};
    explicit Entry(const Parameter& p) : parameter(p) {}
    Parameter parameter;
    std::vector<Form> forms;
    std::size_t packed = 0, plain_at = 0;
    mutable std::atomic<const Scalar*> plain{nullptr};
  };

  /// A convolution's weight [outputs, inputs, width] is multiplied as [outputs, inputs · width].
  static Parameter as_matrix(Parameter p) {
    if (p.shape.rank() == 3) p.shape = {p.shape[0], p.shape[1] * p.shape[2]};
    return p;
  }
  /// Whether a product is one with some columns of whole rows of a parameter: other forms of it, such as
  /// those of another shape, are multiplied as they lie.
  static bool packs(const Product& product, const Parameter& p) {
    if (!detail::PackedProducts<B>::packs() || product.stride != p.shape.cols()) return false;
    if (product.offset < p.offset || product.offset >= p.offset + p.shape.size()) return false;
    const std::size_t row = (product.offset - p.offset) / product.stride,
                      column = (product.offset - p.offset) % product.stride;
    return row % detail::PackedProducts<B>::columns() == 0 && product.n <= p.shape.rows() - row &&
           product.k <= product.stride - column;
  }
  /// Whether each number of a parameter is in just one of its forms. Others are needed as they lie, too.
  static bool covers(const Entry& entry) {
    std::size_t covered = 0;
    for (std::size_t i = 0; i < entry.forms.size(); ++i) {
      covered += entry.forms[i].k * entry.forms[i].n;
      for (std::size_t j = 0; j < i; ++j)
        if (entry.forms[i].overlaps(entry.forms[j])) return false;
    }
    return covered == entry.parameter.shape.size();
  }

  const Scalar* begin_of(const Entry& entry) const {
    return entry.plain_at != Entry::none ? plain_.data() + entry.plain_at : packed_.data() + entry.packed;
  }

  /// The parameter that has an element; parameters are in the order of their offsets.
  const Entry& find(std::size_t offset) const {
    const auto after =
        std::upper_bound(entries_.begin(), entries_.end(), offset,
                         [](std::size_t at, const Entry& entry) { return at < entry.parameter.offset; });
    if (after == entries_.begin()) fail("FrozenWeights", "a parameter of this model", "another one");
    return *std::prev(after);
  }
  /// The same by an address that `plain` or `handle` has given.
  std::pair<const Entry*, std::size_t> find(const Scalar* address) const {
    for (const Entry& entry : entries_)
      for (const Scalar* begin : {begin_of(entry), entry.plain.load(std::memory_order_acquire)})
        if (begin != nullptr && address >= begin && address < begin + entry.parameter.shape.size())
          return {&entry, static_cast<std::size_t>(address - begin)};
    return {nullptr, 0};
  }

  /// W'ᵀ = I W'ᵀ: a row of I gives a column of W'.
  const Scalar* unpack(const Entry& entry) const {
    const detail::Forks::Postponed postponed;  // nobody holds the lock in a child
    const std::lock_guard lock(mutex_);
    if (const Scalar* made = entry.plain.load(std::memory_order_acquire)) return made;
    const std::size_t cols = entry.parameter.shape.cols();
    Numbers& plain = unpacked_.emplace_back(entry.parameter.shape.size());
    std::vector<Scalar> host(plain.size()), unit, column;
    for (const Form& form : entry.forms) {
      Numbers x(form.k), y(form.n);
      column.resize(form.n);
      for (std::size_t i = 0; i < form.k; ++i) {
        unit.assign(form.k, Scalar(0));
        unit[i] = Scalar(1);
        B::upload(unit.data(), form.k, x.data());
        detail::PackedProducts<B>::multiply(1, form.n, form.k, x.data(), form.k, packed_.data() + form.at,
                                            nullptr, 0, y.data(), form.n);
        B::download(y.data(), form.n, column.data());
        for (std::size_t r = 0; r < form.n; ++r) host[form.offset + r * cols + i] = column[r];
      }
    }
    B::upload(host.data(), host.size(), plain.data());
    entry.plain.store(plain.data(), std::memory_order_release);
    return plain.data();
  }

  std::deque<Entry> entries_;
  Numbers packed_{0}, plain_{0};
  mutable std::mutex mutex_;
  mutable std::deque<Numbers> unpacked_;
};

}  // namespace bahdanau
