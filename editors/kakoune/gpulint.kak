# Add this to `kakrc`, after `evaluate-commands %sh{ kak-lsp }` of kakoune-lsp. Add other servers for these files to the same list.

hook -group lsp-filetype-gpulint global BufSetOption filetype=(?:terraform|hcl|yaml|json|bicep|sh) %{
    set-option buffer lsp_servers %{
        [gpulint]
        args = ["server"]
        root_globs = ["gpulint.toml", ".git"]
    }
}
