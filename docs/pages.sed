# Prepares a page for Doxygen: a table of contents below its title; other pages by their labels, as it looks for files by
# whole paths, in which a space ends the name; and what it links to outside of docs/, which is not part of the site, becomes text.
1a\
\
[TOC]
s|\[\([^]]*\)\](\.\./[^)]*)|\1|g
s|](\([a-z0-9_]*\)\.md)|](@ref \1)|g
