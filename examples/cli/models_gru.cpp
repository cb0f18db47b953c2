// All models with the cell `Gru`.
#include <memory>
#include <string_view>

#include "model_of.hpp"

namespace cli {

template std::unique_ptr<AnyModel> model_with<bd::Gru>(std::string_view, const PolicyNames&, const Origin&);

}  // namespace cli
