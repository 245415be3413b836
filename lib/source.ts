/** The id of a request, and where it comes from. */
export interface Source {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
}
