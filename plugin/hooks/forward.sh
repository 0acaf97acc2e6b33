# Hands an event to the flowd of this user, if there is one, by the note that its daemon leaves in its
# state directory. Without flowd: nothing, quietly.
set -- "$1" plugin
for state in "${FLOWD_STATE_DIR:-}" "${XDG_STATE_HOME:-$HOME/.local/state}/flowd" "$HOME/Library/Application Support/flowd"; do
    if [ -r "$state/hook.sh" ]; then
        . "$state/hook.sh"
    fi
done
exit 0
