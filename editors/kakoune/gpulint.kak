# For `kakrc`, behind `evaluate-commands %sh{ kak-lsp }` of kakoune-lsp. Other servers of these files stand in the same list.

hook -group lsp-filetype-gpulint global BufSetOption filetype=(?:terraform|hcl|yaml|json|bicep|sh) %{
    set-option buffer lsp_servers %{
        [gpulint]
        args = ["server"]
        root_globs = ["gpulint.toml", ".git"]
    }
}
