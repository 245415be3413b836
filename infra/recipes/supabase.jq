# Makes lines for import-users of rows of Supabase's table auth.users (see infra/runbooks.md).
# In place of `{plan}` name your own attributes, such as `{plan, seats}`, or `{plan: .tier}` where the name differs.
# If "Confirm email" was ever off in Supabase, replace `(.email_confirmed_at != null)` by `false`.
(now | todate) as $now
| {id, email, created_at, email_verified: (.email_confirmed_at != null),
  suspended_at: (if (.banned_until // "") > $now then $now else null end),
  password_hash: (.encrypted_password | if . == "" then null else . end),
  attributes: (.raw_app_meta_data // {} | {plan}),
  name: [(.raw_user_meta_data | .name, .full_name), (.email // "" | split("@")[0])
    | strings | select(test("\\S"))][0]}
