# Marks our comments for Doxygen, line for line: the two lines at a header's top describe the file, and what stands
# behind a member describes the member.
1,/^#pragma once/ {
  s|^// |/// |
  s|^#pragma once|/// \\file|
}
/^ +[^/"]*[;,] +\/\/ / s|([;,]) +// |\1  ///< |
# Member functions that are defined in another header than their class: Doxygen cannot match them with constraints.
/^template <class C, class S, class B, class E>$/,/^(\}|const \{.*\})$/ s|.*||
